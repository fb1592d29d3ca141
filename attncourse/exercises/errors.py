"""What the commonest errors of Python and PyTorch mean, in the words of the course."""

from __future__ import annotations

import re

from attncourse.exercises.task import Mistake

SIZES = "sizes that do not fit"
TYPES = "a type that the operation does not take"
CALL = "called in another way"

# (what the error says, the name of the mistake, what the student reads)
KNOWN = (
    (
        r"Boolean value of Tensor with more than one value|bool value of Tensor with",
        "the truth of a whole tensor",
        "`if`, `and`, `or` and `not` ask for one truth value, and a tensor has many. "
        "Whether an argument was given is asked with `is None`; entry by entry, "
        "tensors are joined by `&`, `|` and `~`.",
    ),
    (
        r"before Module.__init__\(\) call",
        "the parent's constructor not called",
        "A module can take in layers and parameters only after `super().__init__()` "
        "has been called, at the top of its own `__init__`.",
    ),
    (
        r"'NoneType' object|NoneType$|not NoneType",
        "None is used",
        "Something that the code goes on with is None: a function without a `return`, "
        "a method that changes its object and returns nothing, or an argument that "
        "was left out.",
    ),
    (
        r"batch1 must be a 3D tensor|batch2 must be a 3D tensor|must be 3D",
        "three axes needed",
        "`torch.bmm` takes three axes and no others. `@` treats all axes before the "
        "last two as a batch, however many there are.",
    ),
    (
        r"first two dimensions of batch2 tensor to be: \[(.*?)\] but got: \[(.*?)\]",
        SIZES,
        "A matrix product does not fit: its left side needs a right side that "
        "begins with the sizes [{0}], and gets [{1}]. The columns of the left have to "
        "be as many as the rows of the right: is one of the two not turned round, or "
        "are two of them exchanged?",
    ),
    (
        r"shapes cannot be multiplied \((.*?) and (.*?)\)",
        SIZES,
        "A matrix product does not fit: {0} and {1}. The columns of the left have to "
        "be as many as the rows of the right.",
    ),
    (
        r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at "
        r"non-singleton dimension (\d+)",
        SIZES,
        "Two tensors are combined entry by entry, and along axis {2} one has the size "
        "{0}, the other {1}. Axes are matched from the last one on: is one of them "
        "turned round, is an axis of size 1 missing, or is one of the two too long?",
    ),
    (
        r"stack expects each tensor to be equal size",
        SIZES,
        "`torch.stack` puts tensors of one shape on a new axis; these have different "
        "shapes. `torch.cat` joins along an axis that is there.",
    ),
    (
        r"Sizes of tensors must match except in dimension (\d+). Expected size (\d+) "
        r"but got size (\d+)",
        SIZES,
        "The tensors are joined along axis {0}, and in another axis one has the size "
        "{1} and the other {2}. Is it the axis along which they should grow?",
    ),
    (
        r"shape '\[(.*?)\]' is invalid for input of size (\d+)",
        SIZES,
        "{1} numbers do not fill the shape ({0}). Which sizes, multiplied, give {1}?",
    ),
    (
        r"expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\)",
        SIZES,
        "An axis of size {1} should be stretched to {0}. Only axes of size 1 can be "
        "stretched, and new ones are put in front.",
    ),
    (
        r"shape mismatch|shape of the mask .* does not match|could not be broadcast",
        SIZES,
        "The shape of an index, or of what is written there, does not fit the tensor. "
        "An index by a boolean tensor does not broadcast.",
    ),
    (
        r"einsum\(\)|subscript",
        SIZES,
        "The letters of the `einsum` do not fit the tensors: each letter is one axis, "
        "and an axis has one size wherever its letter stands. Three dots stand for "
        "any axes in front.",
    ),
    (
        r"Dimension out of range|too many indices for tensor of dimension (\d+)",
        "an axis that is not there",
        "An axis is asked for that this tensor does not have. How many axes has it at "
        "this place, and is it the tensor that was meant?",
    ),
    (
        r"index out of range in self|index (\d+) is out of bounds|index out of range",
        "an index past the end",
        "A row is asked for that is not there. Rows are counted from 0, so the last "
        "one of n has the number n − 1.",
    ),
    (
        r"'dict' object has no attribute '(\w+)'|'list' object has no attribute '(\w+)'"
        r"|'tuple' object has no attribute '(\w+)'",
        "a list, tuple or dict for what is in it",
        "`.{0}` is asked of a list, a tuple or a dict. Is one thing taken out of it "
        "first, or should another kind of container have been made?",
    ),
    (
        r"'(?:function|method|type|builtin_function_or_method)' object "
        r"(?:has no attribute|is not subscriptable|is not iterable)",
        "a function that is not called",
        "A function is used as if it were its result. It has to be called: brackets "
        "after its name.",
    ),
    (
        r"argument 'input' \(position 1\) must be Tensor, not (int|float)",
        TYPES,
        "A function of torch wants a tensor and gets a plain number. For plain "
        "numbers there are `math.sqrt`, `math.log`, `max` and `** 0.5`.",
    ),
    (
        r"missing \d+ required|unexpected keyword argument|takes \d+ positional|"
        r"takes from \d+ to \d+ positional|multiple values for argument",
        CALL,
        "It is called with other arguments than it takes. Compare the line of its "
        "`def` with the notebook's, or with the documentation.",
    ),
    (
        r"Can't call numpy\(\) on Tensor that requires grad",
        "NumPy on the way",
        "NumPy does not know gradients, so a tensor that is to get one cannot become "
        "an array. PyTorch has a function of its own for nearly everything.",
    ),
    (
        r"modified by an inplace operation|leaf Variable that requires grad|"
        r"view of a leaf Variable",
        "written in place",
        "A tensor that is needed for the gradients has been overwritten. Operations "
        "that end in an underscore, `+=` and `x[...] = ` write in place; make a new "
        "tensor instead.",
    ),
    (
        r"does not require grad and does not have a grad_fn",
        "no gradient",
        "What comes out is cut off from the parameters. `.item()`, `.detach()`, "
        "`.data`, `torch.tensor(...)`, NumPy and `torch.no_grad()` all cut.",
    ),
    (
        r"expected scalar type|expected m1 and m2 to have the same dtype|"
        r"must have the same dtype|same dtype",
        "two precisions mixed",
        "Two tensors of different types meet: half precision, float32, or whole "
        "numbers. `.to(x.dtype)` brings one to the type of the other.",
    ),
    (
        r"Expected all tensors to be on the same device|on cpu|on cuda",
        "two devices mixed",
        "Two tensors meet that lie on different devices. What the code makes itself "
        "should be made where its input lies: `device=x.device`.",
    ),
    (
        r"used as indices must be|only integers, slices|can't index|"
        r"Expected tensor for argument #1 'indices'|not implemented for 'Float'",
        TYPES,
        "What is used as an index, or as a mask, has another type than an index may "
        "have: whole numbers, a list of them, or a boolean tensor.",
    ),
    (
        r"unsupported operand type|must be real number|can only concatenate|"
        r"bad operand type|'[<>]=?' not supported",
        TYPES,
        "An operator meets a type that it does not take, such as a list where a "
        "number or a tensor was meant.",
    ),
    (
        r"result type Float can't be cast|can't be cast to the desired",
        "fractions written into whole numbers",
        "Fractions are written in place into a tensor of whole numbers, or of "
        "booleans. Make it of floating point first.",
    ),
    (
        r"view size is not compatible",
        "view of what was turned round",
        "After a `transpose` the numbers do not lie in the order that `view` needs. "
        "`reshape` and `flatten` copy where they have to.",
    ),
    (
        r"^(?:ZeroDivisionError|StatisticsError)|division by zero|no median for empty",
        "divided by zero",
        "For this input the code divides by 0, or takes the mean of nothing. Which of "
        "the numbers may be 0?",
    ),
    (
        r"^RecursionError",
        "calls itself for ever",
        "The function calls itself again and again. Has it the name of what it meant "
        "to call?",
    ),
    (
        r"Mean of empty|max\(\) arg is an empty|min\(\) arg is an empty|"
        r"non-empty|empty sequence",
        "nothing to choose from",
        "For this input there is nothing left to take the largest, the smallest or "
        "the mean of.",
    ),
)


def meaning_of(text: str) -> Mistake | None:
    """Return what an error means, or None if it is not a common one.

    Parameters
    ----------
    text : str
        Its type and message, as `describe` puts them.
    """
    if text.startswith("NameError"):
        return None
    for pattern, name, says in KNOWN:
        if found := re.search(pattern, text):
            groups = [group for group in found.groups() if group is not None]
            return Mistake(name, says.format(*groups))
    return None
