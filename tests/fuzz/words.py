# SPDX-License-Identifier: Apache-2.0
"""What random calls of NumPy's functions are made of: operands, arguments by name, and what is called."""

ACTIVE = """v[:4] v[3:6] v[:6][::-1] v[::5] v[:12].reshape(3,4) v[:12].reshape(3,4).T v[:24].reshape(2,3,4) v[:0] v[5]
    v[:9].reshape(3,3) v[:9].reshape(3,3)[::-1] v[:12].reshape(4,3)[:,::-1] v[:4].reshape(1,4) v[:4].reshape(4,1) v[:1]
    v[:0].reshape(0,3) v[:1].reshape(1,1) v[:12].reshape(3,4)[::2,1::2] v[4:5].reshape(()) v[:24].reshape(2,3,4).T
    np.asfortranarray(v[:12].reshape(3,4)) v[:24].reshape(2,3,4).transpose(1,2,0) v[:16].reshape(4,4)
    (v[:9].reshape(3,3)+3*np.eye(3)) v[:8].astype(np.float32) v[:9].reshape(3,3).astype(np.float32) np.repeat(v[:3],2)
    np.sort(v)[:6] np.broadcast_to(v[:3],(2,3)) v[:24].reshape(2,3,4)[::-1,:,::2] v[:0].reshape(2,0,3) v[6:2:-1]
    np.asfortranarray(v[:24].reshape(2,3,4)) v[:4].astype(np.float32)[::-1] v[:4].astype('>f8') v[1:2] v[4]*1e-310
    v[:12].reshape(2,1,6) np.broadcast_to(v[5],(3,)) v[::-1][:12].reshape(3,4) v[:24].reshape(4,3,2).transpose(0,2,1)
    v[:12].reshape(3,4)*m12 v[2].astype(np.float32) v[:4]*[1e30,-1e-300,0,1] v[:4]+[np.inf,0,np.nan,1]
    v[:1].reshape(1,1,1) """.split()
LISTS = "[v[1],v[2],v[3]] [v[0],1.5,2] [v[:3],v[3:6]] (v[1],v[2]) [[v[0],v[1]],[v[2],v[3]]]".split()
PASSIVE = """np.arange(4.) np.arange(3) 2.5 2 np.eye(3) np.arange(12.).reshape(3,4) [0.5,1.5,2.5] np.float32(1.5) None
    np.array([True,False,True,True]) np.array([0,2,1]) np.array(1.5) np.ones((3,1)) 1+2j np.arange(3)*1j np.float64(.5)
    np.arange(4,dtype='>f8') np.arange(3,dtype=np.float16) np.float16(2) True np.True_ np.int8(3)
    np.arange(3,dtype=np.uint8) np.array([np.nan,1,np.inf,-0.0])
    np.broadcast_to(np.arange(3.),(2,3)) np.arange(6.)[::-2] np.zeros((0,3)) np.array(2)
    np.asfortranarray(np.arange(12.).reshape(3,4)) np.arange(24.).reshape(2,3,4) np.array([5e-324,1.,2.,3.]) -1 0 []
    np.arange(3,dtype=np.int32) np.complex64(1j) np.arange(4.).astype(np.float32) [1,2,3] (0.5,2) [[1.,2.],[3.,4.]] ()
    np.longdouble(1.5) np.arange(3,dtype=np.longdouble) range(3) 2**70 1e300""".split()

# What an argument of a name is given, beside operands.
NAMED = {
    name: choices.split()
    for name, choices in {
        "axis": "0 -1 1 None (0,1) (0,-1) 2 (0,) ()",
        "axes": "None (1,0) 0 (0,1) ([0],[1]) 1 (-2,-1)",
        "axis1": "0 1",
        "axis2": "1 0 2",
        "axisa": "-1 0",
        "axisb": "-1 0",
        "axisc": "-1 0",
        "keepdims": "True False",
        "dtype": "None np.float32 float np.float64 complex",
        "where": "True m",
        "out": "None OUT",
        "order": "'C' 'F' 'K' 'A'",
        "initial": "0.0 1.0 -5 v[7] 2 v[6:7].reshape(())",
        "ddof": "0 1 v[2]",
        "correction": "0 1",
        "mean": "np._NoValue v[2]",
        "n": "None 1 2 3 5",
        "s": "None (3,3)",
        "norm": "None 'ortho' 'forward'",
        "k": "0 1 -1",
        "offset": "0 1",
        "shift": "1 -2 (1,2)",
        "repeats": "2 [1,2,1,0] np.array([2,1,1])",
        "reps": "2 (2,1)",
        "shape": "(3,4) (2,2) (4,) (2,3,4)",
        "newshape": "(-1,) (2,-1)",
        "new_shape": "(5,) (2,3)",
        "decimals": "0 1",
        "kind": "'stable' None",
        "kth": "1 0 -1",
        "q": "30 [10,50.] 0.4 [.1,.9] v[2]",
        "method": "'linear' 'lower' 'hazen'",
        "mode": "'raise' 'wrap' 'clip' 'full' 'same' 'valid' 'constant' 'edge' 'reflect' 'reduced' 'mean'",
        "indices": "[0,1] 1 np.array([[0,1],[1,0]]) np.array([2,0]) [-1]",
        "ind": "[0,1] 1 np.array([2,0])",
        "indices_or_sections": "2 3 [1,2]",
        "pad_width": "1 (1,2) ((1,0),(0,2))",
        "deg": "1 2 [1,2] [0,1]",
        "N": "3 None",
        "M": "3 None",
        "m": "1 2",
        "cnt": "1 2",
        "pow": "2 3",
        "dx": "0.5 v[8]+2",
        "edge_order": "1 2",
        "varargs": "0.5 v[2] np.arange(3.) 2",
        "rowvar": "True False",
        "bias": "True False",
        "aweights": "None w",
        "fweights": "None np.array([1,2,1,3])",
        "ord": "None 1 2 np.inf 'fro' 'nuc' -1 3",
        "UPLO": "'L' 'U'",
        "compute_uv": "True False",
        "full_matrices": "True False",
        "hermitian": "False",
        "rcond": "None 1e-10",
        "obj": "1 [0,2] -1 slice(0,2)",
        "start": "0 1 v[2]",
        "stop": "3 v[9]+4",
        "num": "4",
        "endpoint": "True False",
        "base": "10.0 v[2]",
        "retstep": "True False",
        "fill_value": "1.5 v[3] v[:4]",
        "copy": "True False None",
        "subok": "True False",
        "side": "'left' 'right'",
        "right": "True v[2] None",
        "left": "v[3] None",
        "period": "None 2.0 v[3]",
        "indexing": "'ij' 'xy'",
        "sparse": "True False",
        "wrap": "True False",
        "max_work": "None 0",
        "return_index": "True False",
        "return_indices": "True False",
        "return_inverse": "True False",
        "return_counts": "True False",
        "equal_nan": "True False",
        "full": "True False",
        "cov": "True False 'unscaled'",
        "assume_unique": "False True",
        "sorted": "True False",
        "suppress_small": "True False",
        "max_line_width": "None 40",
        "invert": "True False",
        "optimize": "True False",
        "trim": "'fb' 'f'",
        "source": "0 (0,1)",
        "destination": "-1 (-1,0)",
        "discont": "None 2.0",
        "bins": "3 [0,.5,1,2] 'auto' np.arange(4.) v[:3]",
        "range": "None (0.,2.) (0,v[2])",
        "density": "None False True",
        "weights": "None w v[:4]",
        "minlength": "0 5",
        "prepend": "np._NoValue v[2]",
        "append": "np._NoValue v[4]",
        "to_end": "None v[2]",
        "to_begin": "None v[3]",
        "subscripts": "'i,i->' 'ij->ji' 'ij,jk->ik' 'ii->i' 'ij->j' 'i,j' 'ij->' 'ii' '...i->...'",
        "casting": "'same_kind' 'unsafe'",
        "overwrite_input": "False",  # codipy leaves the argument as it is
        "max": "None 0.8 v[2] v[:4]",
        "min": "0.3 None v[3]",
        "a_min": "0.3 v[2] None",
        "a_max": "0.9 v[3] None",
        "nan": "0.0 v[2]",
        "include_initial": "True False",
        "tol": "100 0.5",
        "decreasing": "False True",
        "increasing": "True False",
        "returned": "True False",
        "func1d": "np.sum np.cumsum (lambda/r:r*r[0])",
        "func": "np.sum np.max",
        "condlist": "[m]",
        "funclist": "[(lambda/t:t*2),0.5]",
        "choicelist": "[v[:12].reshape(3,4)] [v[:4]] [v[:3]]",
        "default": "0 v[3]",
        "condition": "m [True,False,True]",
        "choices": "[v[:3],v[3:6],v[6:9]]",
        "mask": "m",
        "reflect_type": "'even' 'odd'",
        "window_shape": "2 (2,2)",
        "end_values": "0 v[2]",
        "constant_values": "0 v[3]",
        "stat_length": "None 2",
        "value": "1.5 v[3] 2 np.float32(1.5)",
        "lbnd": "0 v[2]",
        "scl": "1 2.0 v[3]",
        "tensor": "True False",
        "ndmin": "0 2",
        "val": "1.5 v[2] v[:3]",
        "requirements": "'C' 'F' ['O','W'] None",
        "args": "0 -1 1 (0,)",
        "arrays": "[ACTIVE,ACTIVE] [ACTIVE] (ACTIVE,PASSIVE)",
        "tup": "[ACTIVE,ACTIVE] [ACTIVE,PASSIVE] v[:12].reshape(3,4)",
        "ary_list": "[ACTIVE,ACTIVE]",
    }.items()
}
# An option that is yes or no is given nothing else.
FLAGS = {name for name, choices in NAMED.items() if set(choices) <= {"True", "False", "None", "np._NoValue"}}
NOT_GIVEN = {"like", "device", "subok", "sorter", "stable"}  # need objects of other kinds, or change nothing
PROPERTIES = "T mT real imag flat[1:3] flat[0] shape size ndim dtype nbytes itemsize".split()
# They make files or bytes, or set what memory is.
NOT_CALLED = "tofile dump dumps tobytes byteswap setfield setflags to_device getfield resize".split()
# They read files, or memory that nobody wrote.
UNREAD = "frombuffer fromfile genfromtxt loadtxt empty empty_like".split()
MODULES = """lib.scimath polynomial.polynomial polynomial.chebyshev polynomial.legendre polynomial.hermite
    polynomial.laguerre polynomial.hermite_e lib.stride_tricks polynomial.polyutils""".split()
METHODS = "reduce accumulate reduceat outer".split()
INDICES = """0 -1 ... None () (0,) [0,1] [1,0,1] m slice(None,None,-1) slice(1,None) (Ellipsis,0) (None,0) ([0,1],[1,0])
    np.array([[0,1],[1,0]]) np.array([True,False,True,True]) (slice(None),0) (0,slice(None,None,2)) (slice(None),[1,0])
    np.array(1) [True,False,True] (None,Ellipsis,None) np.int64(1) ([0,1],None,1) slice(3,0,-2) True (slice(1),[0])
    np.array([],int) [] np.uint8(2)""".split()
OPERATORS = "+ - * / ** % // @ < <= == += -= *= /= **= %= //= [] [] [] []".split()
DRAWS = [
    f"np.random.default_rng(7).{text}"
    for text in (
        "normal(OPERAND, OPERAND)", "normal(OPERAND, OPERAND, (3, 4))", "uniform(OPERAND, OPERAND)",
        "uniform(high=OPERAND, size=3)", "exponential(OPERAND)", "lognormal(OPERAND, OPERAND)", "choice(ACTIVE, 3)",
        "permutation(ACTIVE)", "permuted(ACTIVE, axis=-1)", "permutation(ACTIVE, axis=-1)", "gamma(OPERAND)",
        "choice(ACTIVE, (2, 2), replace=False, axis=-1)", "shuffle(ACTIVE)", "standard_normal(out=ACTIVE)",
        "choice(ACTIVE, 4, p=[0.1, 0.2, 0.3, 0.4])", "poisson(OPERAND)", "random(out=ACTIVE)",
    )
]  # fmt: skip
MADE_OF = [
    "np.r_[ACTIVE, OPERAND]", "np.c_[ACTIVE, OPERAND]", "np.r_['0,2', ACTIVE, OPERAND]", "np.r_[v[0]:v[1]:4j, OPERAND]",
    "np.vectorize(lambda a, b: a * b)(ACTIVE, OPERAND)", "[i * a for i, a in enumerate(np.nditer(ACTIVE))]",
    "[i + (a,) for i, a in np.ndenumerate(ACTIVE)]", "np.ix_([0, 1], [1, 0])[0] * ACTIVE", "list(ACTIVE)",
    "np.vectorize(lambda a: (a, 2 * a))(ACTIVE)", "np.vectorize(np.sum, signature='(n)->()')(ACTIVE)",
    "list(np.broadcast(ACTIVE, OPERAND))", "sum(ACTIVE)", "max(ACTIVE)", "abs(ACTIVE)", "divmod(ACTIVE, OPERAND)",
    "pow(ACTIVE, OPERAND)", "round(ACTIVE, 1)", "sorted(ACTIVE)", "float(ACTIVE)", "complex(ACTIVE)", "int(ACTIVE)",
    "np.float64(ACTIVE)", "np.float32(ACTIVE)", "np.poly1d(ACTIVE)(OPERAND)", "len(ACTIVE)", "OPERAND in ACTIVE",
    "np.mgrid[v[0]:v[1]:3j]", "np.ogrid[0:v[1]:0.5]", "np.frompyfunc(lambda a: a * a, 1, 1)(ACTIVE).astype(float)",
    "np.poly1d(ACTIVE).deriv().coeffs", "(np.poly1d(ACTIVE) * OPERAND).c", "np.poly1d(ACTIVE).integ(k=OPERAND).c",
    *(f"np.polynomial.{name}(ACTIVE){text}" for name in "Polynomial Chebyshev Legendre Hermite".split()
      for text in ("(OPERAND)", ".deriv().coef", ".integ(k=OPERAND).coef", ".roots()", ".linspace(5)", ".trim().coef")),
    "(np.polynomial.Polynomial(ACTIVE) * np.polynomial.Polynomial(ACTIVE)).coef",
    "(np.polynomial.Polynomial(ACTIVE) + OPERAND).coef", "(np.polynomial.Polynomial(ACTIVE) // [1, 2]).coef",
    "np.polynomial.Polynomial.fit(np.arange(4.), ACTIVE, 1)(OPERAND)", "math.hypot(*ACTIVE)", "math.fsum(ACTIVE)",
    "math.sin(ACTIVE)", "math.pow(ACTIVE, OPERAND)", "math.prod(ACTIVE)", "np.asarray(ACTIVE).tolist()",
    "np.array(ACTIVE, ndmin=2)", "cmath.exp(ACTIVE)", "(lambda a, *b: a)(*ACTIVE)", "np.array([*ACTIVE, OPERAND])",
]  # fmt: skip
