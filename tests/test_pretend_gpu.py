"""The pretence: what a GPU refuses is refused, and what it allows is allowed."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

from tests.pretend_gpu import pretend_gpu


@pytest.fixture(autouse=True)
def gpu():
    with pretend_gpu():
        yield


def numbers(*shape):
    return torch.arange(1.0, 1 + np.prod(shape)).reshape(shape)


MIXED = {
    "a sum": lambda cpu, gpu: gpu + cpu,
    "a mask": lambda cpu, gpu: gpu.masked_fill(cpu > 1, 0.0),
    "a list": lambda cpu, gpu: torch.cat([cpu, gpu]),
    "scalars in a list": lambda cpu, gpu: torch.stack([cpu[0, 0], gpu[0, 0]]),
    "CPU scalar changed": lambda cpu, gpu: cpu.sum().add_(gpu.sum()),
    "CPU rows by GPU index": lambda cpu, gpu: cpu[torch.tensor([0], device="cuda")],
    "GPU table by CPU ids": lambda cpu, gpu: nn.functional.embedding(
        torch.tensor([0]), gpu
    ),
    "layer on the CPU": lambda cpu, gpu: nn.Linear(3, 2)(gpu),
    "layer on the GPU": lambda cpu, gpu: nn.Linear(3, 2).to("cuda")(cpu),
    "recurrent layer": lambda cpu, gpu: nn.GRU(3, 2).to("cuda")(cpu),
    "CPU lengths": lambda cpu, gpu: nn.utils.rnn.pack_padded_sequence(
        gpu[None], torch.tensor([2], device="cuda"), batch_first=True
    ),
    "CPU generator": lambda cpu, gpu: torch.randn(
        2, device="cuda", generator=torch.Generator()
    ),
    "CPU generator in place": lambda cpu, gpu: gpu.normal_(generator=torch.Generator()),
}


@pytest.mark.parametrize("name", MIXED)
def test_devices_may_not_be_mixed(name):
    cpu = numbers(2, 3)
    gpu = cpu.to("cuda")
    with pytest.raises(RuntimeError, match=r"device|CPU int64"):
        MIXED[name](cpu, gpu)


def test_backward_is_watched_too():
    class Careless(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, grad):
            return grad * torch.ones(3)

    x = numbers(3).to("cuda").requires_grad_()
    with pytest.raises(RuntimeError, match="same device"):
        Careless.apply(x).sum().backward()


ALLOWED = {
    "CPU scalar": lambda x: x + torch.tensor(2.0),
    "CPU index": lambda x: x[torch.tensor([0, 1])],
    "CPU mask as index": lambda x: x[torch.tensor([True, False])],
    "numbers written": lambda x: x.index_put_((torch.tensor([0]),), torch.tensor(1.0)),
    "view": lambda x: x.T[1:],
    "made alike": torch.zeros_like,
    "made by name": lambda x: torch.arange(3, device="cuda"),
    "made from data": lambda x: torch.tensor([[1, 2]], device=x.device),
    "other dtype": lambda x: x.to(torch.float64),
    "like another": lambda x: torch.ones(2).to(x),
    "drawn": lambda x: torch.rand(2, device="cuda"),
    "deep copy": copy.deepcopy,
    "product": lambda x: x @ x.T,
}


@pytest.mark.parametrize("name", ALLOWED)
def test_what_comes_from_the_gpu_stays_there(name):
    found = ALLOWED[name](numbers(2, 3).to("cuda"))
    assert found.is_cuda and found.device == torch.device("cuda:0")
    assert found.cpu().device.type == "cpu" and not found.cpu().is_cuda


def test_numpy_does_not_read_from_the_gpu():
    x = numbers(2, 3).to("cuda")
    for read in (torch.Tensor.numpy, np.asarray, lambda x: np.mean([x[0, 0], x[0, 1]])):
        with pytest.raises(TypeError, match="Use Tensor"):
            read(x)
    assert x.cpu().numpy().sum() == x.sum().item() == sum(map(sum, x.tolist())) == 21
    assert "device='cuda:0'" in repr(x)
    assert "device" not in repr(x.cpu())


def test_writing_between_devices_copies():
    cpu, gpu = torch.zeros(3), torch.zeros(3, device="cuda")
    cpu[:] = gpu.fill_(2.0)
    assert not cpu.is_cuda and cpu.tolist() == [2.0, 2.0, 2.0]
    gpu[:2] = numbers(2)
    assert gpu.is_cuda and gpu.tolist() == [1.0, 2.0, 2.0]


def test_parameters_move_in_place_and_gradients_follow():
    layer, x = nn.Linear(3, 2), numbers(1, 3).requires_grad_()
    weight = layer.weight
    optimiser = torch.optim.Adam(layer.parameters())
    layer.to("cuda")
    assert layer.weight is weight and weight.is_cuda
    layer(x.to("cuda")).sum().backward()
    assert weight.grad.is_cuda and not x.grad.is_cuda
    optimiser.step()
    assert optimiser.state[weight]["exp_avg"].is_cuda
    assert not layer.cpu().weight.is_cuda


def test_the_gpu_draws_from_a_stream_of_its_own():
    torch.manual_seed(0)
    on_gpu, on_cpu = torch.rand(3, device="cuda"), torch.rand(3)
    torch.manual_seed(0)
    assert torch.equal(torch.rand(3), on_cpu)
    assert torch.equal(torch.rand(3, device="cuda"), on_gpu)
    assert not torch.equal(on_gpu.cpu(), on_cpu)


def test_mixed_precision_follows_the_lists_of_cuda():
    layer, x = nn.Linear(3, 4).to("cuda"), numbers(2, 3).to("cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        assert torch.is_autocast_enabled("cuda")
        y = layer(x)
        assert y.dtype == (y @ y.T).dtype == torch.bfloat16
        for full in (y.softmax(-1), y.sum(), nn.functional.layer_norm(y, (4,))):
            assert full.dtype == torch.float32
    assert layer(x).dtype == torch.float32
    assert not torch.is_autocast_enabled("cuda")


@pytest.mark.parametrize("make", [nn.GRU, nn.LSTM])
def test_recurrent_layers_have_the_limits_of_cudnn(make):
    layer, x = make(3, 2, batch_first=True).to("cuda"), numbers(1, 2, 3).to("cuda")
    states, _ = layer(x)
    states.sum().backward()
    state = torch.zeros(2, 2, 1, device="cuda").transpose(0, 2)
    state = state if make is nn.GRU else (state, state)
    with pytest.raises(RuntimeError, match="not contiguous"):
        layer(x.expand(2, -1, -1), state)
    with pytest.raises(RuntimeError, match="training mode"):
        layer.eval()(x)[0].sum().backward()
