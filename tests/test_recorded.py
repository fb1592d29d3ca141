"""Recorded files say where they come from, and models do what their records state."""

import json
import sys
from functools import partial
from pathlib import Path

import pytest
import torch

from attncourse import GPT, RecurrentSeq2Seq
from attncourse.data import Vocabulary
from attncourse.data.bpe import BPETokenizer
from attncourse.data.novels import load_novels, split_texts
from attncourse.recorded import load, load_model
from attncourse.recorded.writing import provenance, save, save_model
from attncourse.training.language import bits_per_byte

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "attncourse" / "recorded"
SHIPPED = sorted(p.stem for p in FOLDER.glob("*.safetensors"))
MEGABYTE = 2**20
OTHER_SIZES = {"src_vocab_size": 7, "tgt_vocab_size": 7, "hidden_dim": 6}


@pytest.fixture
def made(tmp_path):
    """Write a tiny model; return its folder."""
    torch.manual_seed(0)
    words = Vocabulary(["a", "b", "c"])
    arguments = OTHER_SIZES | {"hidden_dim": 5}
    save_model(
        "tiny",
        RecurrentSeq2Seq(**arguments),
        arguments=arguments,
        vocabularies={"source": words, "target": words},
        measures=lambda model: {"sum": model.output.weight.sum().item()},
        made=provenance([0]),
        folder=tmp_path,
    )
    return tmp_path


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda p: p.stem)
def test_each_file_says_how_it_was_made(path):
    record = load(path.stem)["made"]
    assert {"command", "date", "seeds", "versions", "machine"} <= set(record)
    assert record["command"].startswith(("python experiments/", "python benchmarks/"))
    assert "/work" not in path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def measure():
    """Return functions that measure the models as experiments/ did, by name.

    Of two long measures they take a part, and leave the rest as it is stated.
    """
    sys.path.insert(0, str(ROOT / "experiments"))
    try:
        import applications
        import copying
        import translation
    finally:
        sys.path.pop(0)

    def translator(name, model, record):
        data, source, target = translation.data_of(translation.SHIPPED[name])
        assert record["vocabularies"] == {"source": source, "target": target}
        limit = translation.PAIRS
        return translation.measures_of(model, data, source, target, limit=limit)

    def reader(name, model, record):
        return applications.reading_measures(model, record["vocabularies"]["text"])

    def language_model(name, model, record):
        tokenizer = BPETokenizer(record["merges"])
        text = split_texts(load_novels()).validation
        return record["measures"] | {
            "parameters": sum(p.numel() for p in model.parameters()),
            "validation": bits_per_byte(model, tokenizer, text),
        }

    def copier(name, model, record):
        share = partial(copying.share_right, model, seed=1, count=200)
        pairs = record["measures"]["right"]
        return {"right": [[n, said if n % 7 else share(n, n)] for n, said in pairs]}

    readers = {f"reader_{seed}": reader for seed in applications.SHIPPED}
    return (
        dict.fromkeys(translation.SHIPPED, translator)
        | readers
        | dict.fromkeys([f"copier_{kind}" for kind in copying.TRIED["long"]], copier)
        | {"gpt": language_model}
    )


def flat(measures, at=""):
    """Yield (place, value) for each value within dicts and lists."""
    if isinstance(measures, dict | list):
        pairs = measures.items() if isinstance(measures, dict) else enumerate(measures)
        for key, value in pairs:
            yield from flat(value, f"{at}/{key}")
    else:
        yield at, measures


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_model_reproduces_its_stated_measures(name, measure):
    assert (FOLDER / f"{name}.safetensors").stat().st_size <= 2 * MEGABYTE
    model, record = load_model(name)
    found = dict(flat(measure[name](name, model, record)))
    stated = dict(flat(record["measures"]))
    assert set(found) == set(stated)
    for place, value in stated.items():
        if isinstance(value, str):
            assert found[place] == value
        else:  # sums in another order may turn the few cases that are nearly even
            size = 100 if place.endswith("/bleu") else 1
            assert found[place] == pytest.approx(value, abs=0.01 * size), place


def test_each_shipped_model_has_a_command_that_makes_it(measure):
    assert set(SHIPPED) == set(measure)
    for name in SHIPPED:
        script = load(name)["made"]["command"].split()[1]
        assert (ROOT / script).is_file()


def test_a_model_comes_back_as_it_was_written(made):
    model, record = load_model("tiny", folder=made)
    assert not model.training
    assert model.output.weight.sum().item() == record["measures"]["sum"]
    assert record["vocabularies"]["target"] == Vocabulary(["a", "b", "c"])


def test_damaged_weights_are_refused(made):
    path = made / "tiny.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"damaged or belongs to another record"):
        load_model("tiny", folder=made)


@pytest.mark.parametrize(
    "text, message",
    [
        ("{", "damaged: it is not JSON"),
        ("[1]", "no recorded file of the course"),
        ('{"made": {}}', "no record of a model"),
        ({"arguments": OTHER_SIZES}, "does not fit the model"),
        ({"class": "train"}, "its class is train, not one of"),
    ],
)
def test_foreign_records_are_refused(made, text, message):
    path = made / "tiny.json"
    if isinstance(text, dict):
        text = json.dumps(json.loads(path.read_text()) | text)
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        load_model("tiny", folder=made)


def test_a_missing_file_is_named_and_so_are_those_that_there_are(made):
    with pytest.raises(FileNotFoundError, match=r"other\.json. There are: tiny"):
        load("other", folder=made)
    (made / "tiny.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match=r"tiny\.safetensors"):
        load_model("tiny", folder=made)


@pytest.mark.parametrize("name", ["", "../secret", "a/b"])
def test_a_name_is_no_path(name):
    with pytest.raises(ValueError, match="plain name"):
        load(name)
    with pytest.raises(TypeError, match="name must be a str"):
        load(3)


def test_results_without_provenance_are_not_written(tmp_path):
    with pytest.raises(ValueError, match="made"):
        save("results", {"runs": []}, folder=tmp_path)
    save("results", {"runs": [], "made": provenance()}, folder=tmp_path)
    assert load("results", folder=tmp_path)["runs"] == []


def test_only_models_of_the_course_are_written(tmp_path):
    with pytest.raises(ValueError, match="the model must be one of"):
        save_model(
            "x",
            torch.nn.Linear(1, 1),
            arguments={},
            vocabularies={},
            measures=lambda model: {},
            made=provenance(),
            folder=tmp_path,
        )


def test_matrices_in_8_bits_come_back_within_half_a_step_of_their_row(tmp_path):
    torch.manual_seed(0)
    sizes = {"vocab_size": 17, "d_model": 12, "num_heads": 2, "num_layers": 1}
    model = GPT(**sizes)
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    save_model(
        "small",
        model,
        arguments=sizes,
        vocabularies={},
        measures=lambda model: {},
        made={},
        int8=True,
        merges=[[3, 4]],
        folder=tmp_path,
    )
    loaded, record = load_model("small", folder=tmp_path)
    assert record["merges"] == [[3, 4]]
    for name, weight in loaded.state_dict().items():
        step = before[name].abs().amax(-1, keepdim=True) / 127
        assert ((weight - before[name]).abs() <= 0.51 * step + 1e-6).all(), name
