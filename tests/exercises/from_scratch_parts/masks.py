"""Answers about masks, task 1.4, right and wrong."""

from textwrap import dedent

from tests.exercises.answers import Right, Wrong

CAUSAL_LINE = "return torch.ones(tokens, tokens, dtype=torch.bool).tril()"
PADDING_LINE = "return (ids != pad)[:, None, None, :]"
BOTH_LINE = "return padding_mask(ids, pad) & causal_mask(ids.shape[1]).to(ids.device)"


def _wrong_mask(name, loses, named, before, after):
    return Wrong("masks", name, loses, named, change=(before, after))


WRONG_MASKS = [
    _wrong_mask(
        "ones and zeros",
        (0, 2),
        "zeros and ones",
        CAUSAL_LINE,
        "return torch.tril(torch.ones(tokens, tokens))",
    ),
    _wrong_mask(
        "additive",
        (0, 2),
        "additive mask",
        CAUSAL_LINE,
        "return torch.full((tokens, tokens), -math.inf).triu(1)",
    ),
    _wrong_mask(
        "True for hidden",
        (0, 2),
        "inverted mask",
        CAUSAL_LINE,
        "return torch.ones(tokens, tokens).triu(diagonal=1).bool()",
    ),
    _wrong_mask(
        "not even itself",
        (0, 2),
        "off by one: not itself",
        CAUSAL_LINE,
        "return torch.ones(tokens, tokens).tril(diagonal=-1).bool()",
    ),
    _wrong_mask(
        "the next token too",
        (0, 2),
        "off by one: the next token too",
        CAUSAL_LINE,
        "return torch.ones(tokens, tokens).tril(diagonal=1).bool()",
    ),
    _wrong_mask(
        "the other triangle",
        (0, 2),
        "future and past exchanged",
        CAUSAL_LINE,
        "return torch.ones(tokens, tokens).triu().bool()",
    ),
    _wrong_mask(
        "True for padding",
        (1, 2),
        "inverted mask",
        PADDING_LINE,
        "return (ids == pad)[:, None, None, :]",
    ),
    _wrong_mask(
        "two axes",
        (1, 2),
        "no axes for heads and queries",
        PADDING_LINE,
        "return ids != pad",
    ),
    _wrong_mask(
        "three axes",
        (1, 2),
        "no axes for heads and queries",
        PADDING_LINE,
        "return (ids != pad).unsqueeze(1)",
    ),
    _wrong_mask(
        "queries hidden instead of keys",
        (1, 2),
        "queries hidden instead of keys",
        PADDING_LINE,
        "return (ids != pad)[:, None, :, None]",
    ),
    _wrong_mask(
        "pad ignored",
        (1, 2),
        "pad is ignored",
        PADDING_LINE,
        "return (ids != 0)[:, None, None, :]",
    ),
    _wrong_mask(
        "whole numbers",
        (1, 2),
        "zeros and ones",
        PADDING_LINE,
        "return (ids != pad).long()[:, None, None, :]",
    ),
    _wrong_mask(
        "or for and",
        (2,),
        "or for and",
        BOTH_LINE,
        "return padding_mask(ids, pad) | causal_mask(ids.shape[1])",
    ),
    _wrong_mask(
        "a sum of booleans",
        (2,),
        "or for and",
        BOTH_LINE,
        "return padding_mask(ids, pad) + causal_mask(ids.shape[1])",
    ),
    _wrong_mask(
        "only the padding",
        (2,),
        "padding only",
        BOTH_LINE,
        "return padding_mask(ids, pad)",
    ),
    _wrong_mask(
        "only the future",
        (2,),
        "causal only",
        BOTH_LINE,
        "return causal_mask(ids.shape[1])",
    ),
    _wrong_mask(
        "rows of the padding hidden too",
        (2,),
        "queries hidden as well",
        BOTH_LINE,
        "both = padding_mask(ids, pad) & causal_mask(len(ids[0]))\n"
        "    return both & padding_mask(ids, pad).mT",
    ),
    _wrong_mask(
        "pad not passed on",
        (2,),
        "causal only",
        "return padding_mask(ids, pad) &",
        "return padding_mask(ids) &",
    ),
    _wrong_mask(
        "the course's own mask",
        (0, 1, 2),
        "forbidden function",
        CAUSAL_LINE,
        "import attncourse\n    return attncourse.create_causal_mask(tokens)",
    ),
    _wrong_mask(
        "the ids are overwritten",
        (1,),
        "changes its input",
        PADDING_LINE,
        "ids -= pad\n    return (ids != 0)[:, None, None, :]",
    ),
]


def _masks(causal, padding, both):
    return (
        f"def causal_mask(tokens):\n    return {causal}\n\n\n"
        f"def padding_mask(ids, pad=0):\n    return {padding}\n\n\n"
        f"def decoder_mask(ids, pad=0):\n    return {both}\n"
    )


RIGHT_MASKS = [
    Right(
        "masks",
        "places compared",
        _masks(
            "torch.arange(tokens)[:, None] >= torch.arange(tokens)",
            "ids.ne(pad).unsqueeze(1).unsqueeze(1)",
            "causal_mask(ids.size(1)) & padding_mask(ids, pad)",
        ),
    ),
    Right(
        "masks",
        "upper triangle, negated; booleans multiplied",
        _masks(
            "~torch.triu(torch.ones(tokens, tokens, dtype=torch.bool), diagonal=1)",
            "~(ids == pad).view(len(ids), 1, 1, -1)",
            "padding_mask(ids, pad) * causal_mask(ids.shape[-1])",
        ),
    ),
    Right(
        "masks",
        "an additive mask, converted",
        _masks(
            "torch.triu(torch.full((tokens, tokens), -math.inf), diagonal=1) == 0",
            "(ids - pad).bool()[:, None, None]",
            "torch.logical_and(padding_mask(ids, pad), causal_mask(ids.shape[1]))",
        ),
    ),
    Right(
        "masks",
        "loops",
        dedent(
            """
            def causal_mask(tokens):
                places = range(tokens)
                return torch.tensor([[j <= i for j in places] for i in places])


            def padding_mask(ids, pad=0):
                rows = [[[[token != pad for token in row]]] for row in ids.tolist()]
                return torch.tensor(rows)


            def decoder_mask(ids, pad=0):
                n = ids.shape[1]
                mask = torch.zeros(len(ids), 1, n, n, dtype=torch.bool)
                for b in range(len(ids)):
                    for i in range(n):
                        for j in range(i + 1):
                            mask[b, 0, i, j] = ids[b, j] != pad
                return mask
            """
        ),
    ),
    Right(
        "masks",
        "one from the other, by lower triangle",
        _masks(
            "torch.ones((tokens, tokens)).cumsum(0).ge(torch.arange(1, tokens + 1))",
            "(ids != pad).reshape(ids.shape[0], 1, 1, ids.shape[1])",
            "padding_mask(ids, pad).expand(-1, -1, ids.shape[1], -1).tril()",
        ),
    ),
    Right(
        "masks",
        "masked_fill, with a helper",
        _masks(
            "lower(tokens)",
            "torch.where(ids == pad, False, True)[:, None, None, :]",
            "lower(ids.shape[1]).masked_fill(~padding_mask(ids, pad), False)",
        ),
        helpers=("def lower(n):\n    return torch.tril(torch.ones(n, n)) > 0\n",),
    ),
]
