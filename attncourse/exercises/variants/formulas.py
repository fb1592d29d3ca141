"""What the tasks about scores share: formulas, inputs, and mistakes of any score."""

from __future__ import annotations

import torch

from attncourse.exercises.task import Mistake

BETWEEN = "chapters/02_attention_types#attention-between-two-sequences"
DIVIDE = "chapters/02_attention_types#why-divide-by-d-k"
OTHER = "other parameters: "


def fill(module, weights, named=()):
    """Write weights into the parameters of the same shapes; say if they do not fit.

    A parameter may be the transpose of its weight, and a vector may have axes of size 1
    more: how it is kept is the answer's own affair. What has a name of the given
    constructor takes the weight of that name and no other.

    Parameters
    ----------
    module : torch.nn.Module
        The answer's module.
    weights : list of torch.Tensor
        Taken in turn by parameters of other names.
    named : dict of str to torch.Tensor, optional
        Weights of the list and the names of their maps in the given constructor.

    Returns
    -------
    str
        "" if every parameter has its weight, else what is wrong.
    """
    left, named = list(weights), dict(named)
    for name, parameter in module.named_parameters():
        meant = named.get(name.split(".")[0])
        shape = _plain(parameter.shape)
        for place, weight in enumerate(left):
            if meant is not None and weight is not meant:
                continue
            if shape in (_plain(weight.shape), _plain(weight.shape)[::-1]):
                turned = weight if shape == _plain(weight.shape) else weight.T
                parameter.data.copy_(turned.reshape(parameter.shape))
                del left[place]
                break
        else:
            return f"{OTHER}one of shape {tuple(parameter.shape)} is in no formula"
    return f"{OTHER}none of shape {tuple(left[0].shape)}" if left else ""


def _plain(shape):
    return tuple(size for size in shape if size != 1)


def filled(make, sizes, weights, *inputs, named=()):
    """Return the scores of a module with the given weights, or why there are none."""
    module = make(*sizes)
    if wrong := fill(module, weights, named):
        return wrong
    scores = module(*inputs)
    if torch.is_tensor(scores) and not scores.requires_grad:
        return "no gradient"
    return scores


def product(query, key):
    """Return every dot product of a query and a key."""
    return query @ key.transpose(1, 2)


def general(query, key, weight):
    """Return Luong's general score."""
    return query @ weight @ key.transpose(1, 2)


def hidden_of(query, key, w_query, w_key):
    """Return what stands inside the tanh of the additive score."""
    return (query @ w_query.T)[:, :, None] + (key @ w_key.T)[:, None]


def bent_twice(query, key, w_query, w_key):
    """Return the tanh of the sum of two tanh, in place of that of the plain sum."""
    asking, asked = (query @ w_query.T).tanh(), (key @ w_key.T).tanh()
    return torch.tanh(asking[:, :, None] + asked[:, None])


def additive(query, key, w_query, w_key, v):
    """Return Bahdanau's score."""
    return torch.tanh(hidden_of(query, key, w_query, w_key)) @ v


def pairs_of(query, key):
    """Return each query beside each key, (batch, queries, keys, both widths)."""
    asking = query[:, :, None].expand(-1, -1, key.shape[1], -1)
    asked = key[:, None].expand(-1, query.shape[1], -1, -1)
    return torch.cat([asking, asked], dim=-1)


def concat(query, key, w, v):
    """Return Luong's concat score."""
    return torch.tanh(pairs_of(query, key) @ w.T) @ v


def _whole(generator, low, high):
    return torch.randint(low, high + 1, (), generator=generator).item()


def _normal(generator, *shape):
    return torch.randn(*shape, generator=generator)


def _states(generator, query_dim, key_dim):
    batch = _whole(generator, 1, 2)  # an axis of size 1 has to stay as well
    return {
        "query": _normal(generator, batch, 3, query_dim),
        "key": _normal(generator, batch, _whole(generator, 4, 5), key_dim),
    }


def one_width(generator):
    """Draw queries and keys of one width."""
    width = _whole(generator, 5, 8)
    return _states(generator, width, width)


def with_matrix(generator):
    """Draw queries and keys of different widths, and a matrix between them."""
    query_dim, key_dim = _whole(generator, 2, 3), _whole(generator, 4, 5)
    states = _states(generator, query_dim, key_dim)
    return {**states, "weight": _normal(generator, query_dim, key_dim)}


def with_network(generator):
    """Draw queries, keys and the weights of the additive score."""
    hidden, query_dim, key_dim = (_whole(generator, n, n + 1) for n in (2, 4, 6))
    return {
        **_states(generator, query_dim, key_dim),
        "w_query": _normal(generator, hidden, query_dim),
        "w_key": _normal(generator, hidden, key_dim),
        "v": _normal(generator, hidden),
    }


def with_pairs(generator):
    """Draw queries, keys and the weights of the concat score."""
    drawn = with_network(generator)
    both = torch.cat([drawn.pop("w_query"), drawn.pop("w_key")], dim=1)
    return {"query": drawn["query"], "key": drawn["key"], "w": both, "v": drawn["v"]}


def _other_parameters(seen, expected, inputs):
    return seen["result"].kind == "text" and seen["result"].text.startswith(OTHER)


def common(right):
    """Return the mistakes that any score can have."""
    return (
        Mistake(
            "keys times queries",
            "Rows and columns have changed places. A row belongs to a query, a column "
            "to a key: (batch, queries, keys).",
            wrong=lambda **given: right(**given).transpose(1, 2),
            read=BETWEEN,
        ),
        Mistake(
            "weights instead of scores",
            "The rows sum to 1: the softmax has been taken already. A score module "
            "returns scores. What hides the padding needs them, and comes later.",
            wrong=lambda **given: right(**given).softmax(dim=-1),
            read=BETWEEN,
        ),
    )


NO_GRADIENT = Mistake(
    "cut off from the gradient",
    "No gradient comes back to the weights of the module, so they are never trained. "
    "`.detach()`, `.data`, NumPy and `torch.no_grad()` all cut the path.",
    when=lambda seen, expected, inputs: seen["result"].text == "no gradient",
)
PARAMETERS = Mistake(
    "other parameters",
    "The parameters are not those of the formula: there is one too many, such as a "
    "bias, or one is missing, or a width is wrong. The constructor is given: keep it.",
    when=_other_parameters,
    read=BETWEEN,
)
TANH_ELSEWHERE = tuple(
    Mistake(name, says, wrong=wrong, read=BETWEEN)
    for name, says, wrong in (
        (
            "tanh of the score",
            "The tanh is taken of the finished score. It belongs to the hidden layer, "
            "before v.",
            lambda query, key, w, v: torch.tanh(pairs_of(query, key) @ w.T @ v),
        ),
        (
            "tanh of the pair",
            "The tanh is taken of query and key themselves, before W. It stands round "
            "what W makes of them.",
            lambda query, key, w, v: pairs_of(query, key).tanh() @ w.T @ v,
        ),
    )
)
