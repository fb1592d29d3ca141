"""Linear attention: without the softmax, the order of the products can be changed."""

import torch
import torch.nn.functional as F
from torch import Tensor

from attncourse.layers.core import check_attention_inputs, check_same_tokens, in_full

# A chunk as long as a usual head is wide: the scores within a chunk and the states
# between chunks then cost about the same.
CHUNK = 64


def linear_attention(
    query: Tensor, key: Tensor, value: Tensor, *, causal: bool = False
) -> Tensor:
    r"""Attend with a product of features in place of the exponential.

    .. math::

        o_i = \frac{\phi(q_i)^\top \sum_j \phi(k_j) v_j^\top}
                   {\phi(q_i)^\top \sum_j \phi(k_j)}, \qquad
        \phi(x) = \operatorname{elu}(x) + 1

    The sums over the keys do not depend on the query, so they are made once: time and
    memory grow as n, not n². If causal, :math:`j` runs up to :math:`i` only. This is
    another function than softmax attention, not an approximation of it.

    Parameters
    ----------
    query, key, value : torch.Tensor
        As for `scaled_dot_product_attention`.
    causal : bool
        If True, no query sees a later key; needs as many queries as keys.

    Returns
    -------
    torch.Tensor
        ``(..., queries, d_v)``, in the dtype of `query`. In half precision the sums
        are made in float32. Where all weights vanish the output is zero.

    Raises
    ------
    TypeError, ValueError
        If the tensors do not fit together, or causal and not as many queries as keys.

    References
    ----------
    Katharopoulos et al. (2020), "Transformers are RNNs: fast autoregressive
    transformers with linear attention", equations 5 to 9.
    """
    *batch, queries, keys = check_attention_inputs(query, key, value)
    if causal:
        check_same_tokens(queries, keys)
    query_, key_, value_ = in_full(batch, query, key, value)
    query_, key_ = elu_features(query_), elu_features(key_)
    # A value of 1 beside the others sums the weights: the last column of the output
    # is the denominator.
    value_ = F.pad(value_, (0, 1), value=1.0)
    if causal:
        sums = _causal_sums(query_, key_, value_)
    else:
        sums = query_ @ (key_.transpose(-2, -1) @ value_)
    output, total = sums[..., :-1], sums[..., -1:]
    # Without keys, or where all features vanish, 0 / 0 becomes 0 / 1.
    smallest = torch.finfo(total.dtype).tiny / torch.finfo(total.dtype).eps
    output = output / total.masked_fill(total < smallest, 1.0)
    return output.to(query.dtype)


def elu_features(x: Tensor) -> Tensor:
    r"""Return :math:`\operatorname{elu}(x) + 1`: x + 1 above 0, :math:`e^x` below.

    Written as two cases, since :math:`(e^x - 1) + 1` rounds to 0 from about −17 in
    float32, and a query without any positive feature has no weights.
    """
    return torch.where(x > 0, x + 1, torch.exp(x.clamp(max=0)))


def _causal_sums(query, key, value):
    """Return, for each query, the sum of (query · key) value over keys up to its own.

    Keys in earlier chunks come in through the state, the running sum of key valueᵀ;
    those in the query's own chunk through the scores, which are few.
    """
    tokens = query.shape[-2]
    chunks = max(-(-tokens // CHUNK), 1)
    query, key, value = (
        F.pad(tensor, (0, 0, 0, chunks * CHUNK - tokens)).unflatten(-2, (chunks, CHUNK))
        for tensor in (query, key, value)
    )  # (..., chunks, CHUNK, d)
    states = key.transpose(-2, -1) @ value  # (..., chunks, d_k, d_v)
    before = F.pad(states.cumsum(-3), (0, 0, 0, 0, 1, 0))[..., :-1, :, :]
    scores = (query @ key.transpose(-2, -1)).tril()
    sums = query @ before + scores @ value
    return sums.flatten(-3, -2)[..., :tokens, :]
