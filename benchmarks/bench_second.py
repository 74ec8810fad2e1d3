# SPDX-License-Identifier: Apache-2.0
"""What do second derivatives cost, of array code and of loops over numbers?"""
import array_work
from timing import Figure, in_turns, ratio


def rosenbrock(x):
    """As array code."""
    import numpy as np
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1.0 - x[:-1]) ** 2.0)


def rosenbrock_loop(x):
    """The same as a loop over floats."""
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


def _figure(name, work, plain, target, question, repeats=9):
    times, reference = in_turns([work, plain], repeats)
    reached, detail = ratio(times, reference)
    return Figure(name, reached, target, detail=detail, question=question)


def product_of_arrays():
    """A Hessian times a vector, Rosenbrock's function of 1000 numbers."""
    import numpy as np

    import codipy
    x, v = np.linspace(0.5, 1.5, 1000), np.ones(1000)
    numbers = x.tolist()
    return _figure("Hessian times vector, Rosenbrock n=1000 as array code / Python loop",
                   lambda: codipy.hvp(rosenbrock, (x,), (v,)), lambda: rosenbrock_loop(numbers), 0.5,
                   "second-product-arrays")


def further_product_of_arrays():
    """One more vector on the same recording."""
    import numpy as np

    import codipy
    x, v = np.linspace(0.5, 1.5, 1000), np.ones(1000)
    numbers, (_, product) = x.tolist(), codipy.linearize(codipy.grad(rosenbrock), x)
    return _figure("a further vector times this Hessian / Python loop", lambda: product(v),
                   lambda: rosenbrock_loop(numbers), 0.3, "second-further-arrays")


def product_of_numbers():
    """The same of the loop over floats."""
    import codipy
    x, v = [0.5 + k / 1000 for k in range(1000)], [1.0] * 1000
    return _figure("Hessian times vector, Rosenbrock n=1000 as a loop / Python loop",
                   lambda: codipy.hvp(rosenbrock_loop, (x,), (v,)), lambda: rosenbrock_loop(x), 30.0,
                   "second-product-numbers", repeats=5)


def dense():
    """A dense Hessian."""
    import numpy as np

    import codipy
    x = np.linspace(0.5, 1.5, 50)
    numbers, hessian = x.tolist(), codipy.hessian(rosenbrock)
    return _figure("dense Hessian, Rosenbrock n=50 as array code / Python loop", lambda: hessian(x),
                   lambda: rosenbrock_loop(numbers), 8.0, "second-dense")


def _fields():
    import numpy as np

    x, y = np.meshgrid(np.linspace(0.0, 1.0, 201), np.linspace(0.0, 1.0, 201))
    return np.sin(x + y), np.cos(x - y)


def burgers():
    """A Hessian times a vector over the gradient."""
    import codipy
    fields = _fields()
    gradient = codipy.grad(array_work.burgers, argnums=(0, 1))
    return _figure("Hessian times vector / gradient, Burgers 201x201x32",
                   lambda: codipy.hvp(array_work.burgers, fields, fields), lambda: gradient(*fields), 3.0,
                   "second-burgers", repeats=3)


def further_burgers():
    """One more vector on the same recording."""
    import codipy
    fields = _fields()
    gradient = codipy.grad(array_work.burgers, argnums=(0, 1))
    _, product = codipy.linearize(gradient, *fields)
    return _figure("a further vector times this Hessian / gradient", lambda: product(*fields),
                   lambda: gradient(*fields), 2.0, "second-further-burgers", repeats=5)


def _nested(name, f, x, v, target, question):
    """A driver inside of another one, over sweeps."""
    import codipy
    gradient = codipy.grad(f)
    return _figure(f"Hessian times vector, a driver inside of a driver / sweeps, {name}",
                   lambda: codipy.jvp(gradient, (x,), (v,)), lambda: codipy.hvp(f, (x,), (v,)), target, question, 5)


def nested_arrays():
    """Of arrays."""
    import numpy as np
    return _nested("Rosenbrock n=100,000 as array code", rosenbrock, np.linspace(0.5, 1.5, 100_000), np.ones(100_000),
                   3.0, "second-nested-arrays")


def nested_numbers():
    """Of numbers."""
    return _nested("Rosenbrock n=1000 as a loop", rosenbrock_loop, [0.5 + k / 1000 for k in range(1000)], [1.0] * 1000,
                   30.0, "second-nested-numbers")


QUESTIONS = {"second-product-arrays": product_of_arrays, "second-further-arrays": further_product_of_arrays,
             "second-product-numbers": product_of_numbers, "second-dense": dense, "second-burgers": burgers,
             "second-further-burgers": further_burgers, "second-nested-arrays": nested_arrays,
             "second-nested-numbers": nested_numbers}
