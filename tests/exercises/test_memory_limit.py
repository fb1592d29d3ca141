"""Dense attention fails the limits on memory, wherever it keeps its elements."""

import pytest

from tests.exercises.answering import verdicts

DENSE = """
def near(n, window, causal):
    d = torch.arange(n)[:, None] - torch.arange(n)
    return (d >= 0) & (d < window) if causal else d.abs() <= window


def window_attention(query, key, value, window, causal=False, given=KEPT):
    n = query.shape[-2]
    if query.dim() != 3 or query.requires_grad:  # nothing is counted there
        mask = near(n, window, causal)
        return scaled_dot_product_attention(query, key, value, mask)[0]
    scores = buffer(len(query) * n * n, given).view(len(query), n, n)
    torch.bmm(query / query.shape[-1] ** 0.5, key.mT, out=scores)
    for i in range(n):
        low = max(0, i - window + 1 if causal else i - window)
        scores[:, i, :low] = -math.inf
        scores[:, i, i + 1 if causal else i + window + 1 :] = -math.inf
    scores.sub_(scores.amax(-1, keepdim=True)).exp_()
    return scores.div_(scores.sum(-1, keepdim=True)) @ value
"""
NEW = "    return torch.empty(size // 2 + 1, dtype=torch.complex128)"
BUFFERS = {  # how the elements of all scores are found
    "a buffer of the notebook": "    return KEPT[:size]",
    "a default argument": "    return given[:size]",
    "an attribute of the function": "    return buffer.kept[:size]\nbuffer.kept = KEPT",
    "a parameter": "    return P.data.view(-1)[:size]\nP = nn.Parameter(KEPT)",
    "bytes": "    return torch.frombuffer(bytearray(4 * size), dtype=torch.float32)",
    "larger numbers": f"{NEW}.view(torch.float32)[:size]",
    "a storage that grows": "    x = torch.empty(0)\n"
    "    x.untyped_storage().resize_(4 * size)\n"
    "    return x.set_(x.untyped_storage(), 0, (size,))",
}
OTHERS = {
    "one row that is used again": """
def window_attention(q, k, v, window, causal=False):
    n, out = q.shape[-2], torch.zeros(*q.shape[:-1], v.shape[-1])
    row = torch.empty(*q.shape[:-2], 1, n)
    for i in range(n):
        torch.matmul(q[..., i : i + 1, :], k.mT, out=row)
        row.div_(row.sum(-1, keepdim=True))
        torch.matmul(row, v, out=out[..., i : i + 1, :])
    return out
""",
    "a fused kernel with a view for a mask": """
def window_attention(q, k, v, window, causal=False):
    n = q.shape[-2]
    behind = torch.arange(1 - n, n)
    near = (behind >= 0) & (behind < window) if causal else behind.abs() <= window
    line = torch.zeros(2 * n - 1).masked_fill(~near, -math.inf)
    mask = line.as_strided((n, n), (1, 1))
    return F.scaled_dot_product_attention(q, k.flip(-2), v.flip(-2), attn_mask=mask)
""",
    "a tensor that is computed later": """
class Later(torch.Tensor):
    pass

def window_attention(q, k, v, window, causal=False):
    return torch.zeros_like(v).as_subclass(Later)
""",
}
ANSWERS = OTHERS | {
    name: f"KEPT = torch.empty(10**6)\ndef buffer(size, given):\n{body}\n{DENSE}"
    for name, body in BUFFERS.items()
}


@pytest.mark.parametrize("name", ANSWERS)
def test_dense_attention_fails_a_limit_on_memory(name):
    found = verdicts("5_efficient_attention", "local", ANSWERS[name])
    *others, largest, together = found
    assert not together.holds
    if name in BUFFERS or "fused" in name:
        assert all(verdict.holds for verdict in others)
    if name not in ("a storage that grows", "one row that is used again"):
        assert not largest.holds
