"""The conversion of LaTeX to MathML."""

import pytest

from tests.loading import load

course_math = load("book/_ext/course_math.py")


def convert(latex, display=True):
    return course_math.mathml(latex, display)


@pytest.mark.parametrize(
    "latex",
    [
        r"\operatorname{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right) V",
        r"\begin{aligned} a &= b \\ c &= d \end{aligned}",
        r"\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}",
        r"\begin{cases} 0 & \text{if } j \le i \\ -\infty & x \end{cases}",
        r"\mathbf{W}_Q \in \mathbb{R}^{d \times d_k}, \mathcal{O}(n^2)",
        r"\alpha + \mathbf{0} + \mathbb{1}",
        r"\text{max\_distance} + \left\lfloor x \right\rfloor",
        r"\tilde{h}_t = \tanh(W [c_t ; h_t])",
        r"\underbrace{a + b}_{c}",
    ],
)
def test_what_the_chapters_use_is_known(latex):
    assert convert(latex).startswith("<math")


@pytest.mark.parametrize(
    ("latex", "reason"),
    [
        (r"\unknown{x}", "Unknown"),
        (r"\frac{a", "not closed"),
        (r"\begin{aligned} a &= b", "not closed"),
        (r"a & b", "unknown"),
        (r"x_\foo", "Unknown"),
    ],
)
def test_what_cannot_be_converted_is_refused(latex, reason):
    with pytest.raises(course_math.MathError, match=reason):
        convert(latex)


def test_limits_stand_below_in_a_display():
    assert "<munderover>" in convert(r"\sum_{i=1}^n x_i")
    assert "<munder>" in convert(r"\max_i x_i")
    assert "<munder>" in convert(r"\underbrace{a + b}_{c}")
    assert "<msub><mover>" in convert(r"\tilde{h}_t")


def test_function_names_are_one_upright_word():
    assert ">softmax</mo>" in convert(r"\operatorname{softmax}(x)")
    assert ">softmax</mtext>" in convert(r"\mathrm{softmax}(x)")
    assert 'rspace="0.167em">log</mo>' in convert(r"\log x")
    assert 'rspace="0">log</mo>' in convert(r"\log(x)")
    assert 'lspace="0.167em"' in convert(r"i \sin x")


def test_braces_of_a_set_are_no_larger_than_what_they_hold():
    assert convert(r"\{0, 1\}").count('stretchy="false"') == 2
    assert "stretchy" not in convert(r"\left\{ x \right\}")


def test_infinity_is_a_letter_without_space_around_it():
    assert "<mi>∞</mi>" in convert(r"e^{-\infty}")


def test_the_latex_is_kept_as_the_alternative_text():
    assert 'alttext="a &lt; b"' in convert("a < b")
