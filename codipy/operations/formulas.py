# SPDX-License-Identifier: Apache-2.0
"""The table's expressions in reverse Polish notation, for whoever makes code of them while a program runs.

Arguments are their letters, numbers capital letters; ``~ | v`` mean negative, absolute value and square root.
Expressions that call or compare something else have no formula.
"""

import ast

from . import helpers

__all__ = ["Formulas"]

BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
UNARY = {"fabs": "|", "sqrt": "v"}
ARGUMENTS = "xyzwe"


class Formulas:
    """Formulas and the numbers that they have in common.

    Attributes
    ----------
    numbers : list of float
        What ``A``, ``B``, ... stand for; ``A`` is 0, ``B`` is -0.
    """

    def __init__(self):
        self.numbers = [0.0, -0.0]

    def of(self, expression):
        """Return the formula of an expression of the table, an empty one if there is none.

        Examples
        --------
        >>> from codipy.operations.formulas import Formulas
        >>> formulas = Formulas()
        >>> formulas.of("1 / (1 + x * x)"), formulas.numbers[2:]
        ('CCxx*+/', [1.0])
        >>> formulas.of("pow(x, y)")
        ''
        """
        known = len(self.numbers)
        try:
            return self._postfix(ast.parse(expression, mode="eval").body)
        except LookupError:
            del self.numbers[known:]
            return ""

    def _postfix(self, node):
        match node:
            case ast.Constant():
                return self._number(float(node.value))
            case ast.UnaryOp(ast.USub(), ast.Constant()):
                return self._number(-float(node.operand.value))
            case ast.UnaryOp(ast.USub()):
                return self._postfix(node.operand) + "~"
            case ast.BinOp():
                return self._postfix(node.left) + self._postfix(node.right) + BINARY[type(node.op)]
            case ast.Call(ast.Name(), [argument]):
                return self._postfix(argument) + UNARY[node.func.id]
            case ast.Name() if node.id in ARGUMENTS:
                return node.id
            case ast.Name() if node.id.isupper():
                return self._number(getattr(helpers, node.id))
        raise LookupError(f"no formula for {ast.unparse(node)}")

    def _number(self, value):
        if value not in self.numbers[2:]:
            self.numbers.append(value)
        return chr(ord("A") + self.numbers.index(value, 2))
