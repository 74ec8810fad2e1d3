import numpy as np
def f0(x):
    y=np.sum(x)*0.0
    return np.sum(np.mean(x))+y*0
def f1(x):
    y=np.sum(x)*0.0
    return np.sum(np.mean(x,axis=0))+y*0
def f2(x):
    y=np.sum(x)*0.0
    return np.sum(x.mean())+y*0
def f3(x):
    y=np.sum(x)*0.0
    return np.sum(np.var(x))+y*0
def f4(x):
    y=np.sum(x)*0.0
    return np.sum(np.std(x))+y*0
def f5(x):
    y=np.sum(x)*0.0
    return np.sum(x.std())+y*0
def f6(x):
    y=np.sum(x)*0.0
    return np.sum(np.var(x,ddof=1))+y*0
def f7(x):
    y=np.sum(x)*0.0
    return np.sum(np.std(x,ddof=3))+y*0
def f8(x):
    y=np.sum(x)*0.0
    return np.sum(np.median(x))+y*0
def f9(x):
    y=np.sum(x)*0.0
    return np.sum(np.median(x,axis=0))+y*0
def f10(x):
    y=np.sum(x)*0.0
    return np.sum(np.average(x))+y*0
def f11(x):
    y=np.sum(x)*0.0
    return np.sum(np.average(x,weights=x))+y*0
def f12(x):
    y=np.sum(x)*0.0
    return np.sum(np.nanmean(x))+y*0
def f13(x):
    y=np.sum(x)*0.0
    return np.sum(np.nanmean(x,axis=0))+y*0
def f14(x):
    y=np.sum(x)*0.0
    return np.sum(np.nanmedian(x))+y*0
def f15(x):
    y=np.sum(x)*0.0
    return np.sum(np.nanmedian(x,axis=0))+y*0
def f16(x):
    y=np.sum(x)*0.0
    return np.sum(np.nanvar(x))+y*0
def f17(x):
    y=np.sum(x)*0.0
    return np.sum(np.nanstd(x,ddof=1))+y*0
def f18(x):
    y=np.sum(x)*0.0
    return np.sum(np.nanmax(x))+y*0
def f19(x):
    y=np.sum(x)*0.0
    return np.sum(np.nanmin(x,axis=0))+y*0
def f20(x):
    y=np.sum(x)*0.0
    return np.sum(np.nansum(x))+y*0
def f21(x):
    y=np.sum(x)*0.0
    return np.sum(np.nanprod(x))+y*0
def f22(x):
    y=np.sum(x)*0.0
    return np.sum(np.nanpercentile(x,30))+y*0
def f23(x):
    y=np.sum(x)*0.0
    return np.sum(np.nanquantile(x,0.3,axis=0))+y*0
def f24(x):
    y=np.sum(x)*0.0
    return np.sum(np.percentile(x,30))+y*0
def f25(x):
    y=np.sum(x)*0.0
    return np.sum(np.quantile(x,0.3))+y*0
def f26(x):
    y=np.sum(x)*0.0
    return np.sum(np.max(x))+y*0
def f27(x):
    y=np.sum(x)*0.0
    return np.sum(np.min(x,axis=0))+y*0
def f28(x):
    y=np.sum(x)*0.0
    return np.sum(np.ptp(x))+y*0
def f29(x):
    y=np.sum(x)*0.0
    return np.sum(np.argmax(x))+y*0
def f30(x):
    y=np.sum(x)*0.0
    return np.sum(np.nanargmax(x))+y*0
def f31(x):
    y=np.sum(x)*0.0
    return np.sum(np.sum(x))+y*0
def f32(x):
    y=np.sum(x)*0.0
    return np.sum(np.prod(x))+y*0
def f33(x):
    y=np.sum(x)*0.0
    return np.sum(np.cov(x))+y*0
def f34(x):
    y=np.sum(x)*0.0
    return np.sum(np.corrcoef(x))+y*0
def f35(x):
    y=np.sum(x)*0.0
    return np.sum(np.cumsum(x))+y*0
def f36(x):
    y=np.sum(x)*0.0
    return np.sum(np.diff(x))+y*0
def f37(x):
    y=np.sum(x)*0.0
    return np.sum(np.gradient(x))+y*0
def f38(x):
    y=np.sum(x)*0.0
    return np.sum(np.sort(x))+y*0
def f39(x):
    y=np.sum(x)*0.0
    return np.sum(np.linalg.norm(x))+y*0
def f40(x):
    y=np.sum(x)*0.0
    return np.sum(np.linalg.inv(x))+y*0
def f41(x):
    y=np.sum(x)*0.0
    return np.sum(np.linalg.det(x))+y*0
def f42(x):
    y=np.sum(x)*0.0
    return np.sum(np.linalg.slogdet(x)[1])+y*0
def f43(x):
    y=np.sum(x)*0.0
    return np.sum(np.linalg.cholesky(x))+y*0
def f44(x):
    y=np.sum(x)*0.0
    return np.sum(np.linalg.solve(x,x))+y*0
def f45(x):
    y=np.sum(x)*0.0
    return np.sum(np.linalg.eigvalsh(x))+y*0
def f46(x):
    y=np.sum(x)*0.0
    return np.sum(np.linalg.svd(x)[1])+y*0
def f47(x):
    y=np.sum(x)*0.0
    return np.sum(np.linalg.cond(x))+y*0
def f48(x):
    y=np.sum(x)*0.0
    return np.sum(np.linalg.lstsq(x,x)[0])+y*0
def f49(x):
    y=np.sum(x)*0.0
    return np.sum(np.linalg.pinv(x))+y*0
def f50(x):
    y=np.sum(x)*0.0
    return np.sum(np.linalg.matrix_power(x,-1))+y*0
def f51(x):
    y=np.sum(x)*0.0
    return np.sum(np.trapezoid(x))+y*0
def f52(x):
    y=np.sum(x)*0.0
    return np.sum(np.interp(0.5,x,x))+y*0
def f53(x):
    y=np.sum(x)*0.0
    return np.sum(np.polyfit(x,x,1))+y*0
def f54(x):
    y=np.sum(x)*0.0
    return np.sum(np.polyval(x,x))+y*0
def f55(x):
    y=np.sum(x)*0.0
    return np.sum(np.convolve(x,x))+y*0
def f56(x):
    y=np.sum(x)*0.0
    return np.sum(np.log(x))+y*0
def f57(x):
    y=np.sum(x)*0.0
    return np.sum(np.sqrt(x))+y*0
def f58(x):
    y=np.sum(x)*0.0
    return np.sum(1/x)+y*0
def f59(x):
    y=np.sum(x)*0.0
    return np.sum(x/x)+y*0
def f60(x):
    y=np.sum(x)*0.0
    return np.sum(x-x)+y*0
def f61(x):
    y=np.sum(x)*0.0
    return np.sum(x*10)+y*0
def f62(x):
    y=np.sum(x)*0.0
    return np.sum(x**0.5)+y*0
def f63(x):
    y=np.sum(x)*0.0
    return np.sum(x**-1)+y*0
def f64(x):
    y=np.sum(x)*0.0
    return np.sum(x**-0.5)+y*0
def f65(x):
    y=np.sum(x)*0.0
    return np.sum(x%0.0)+y*0
def f66(x):
    y=np.sum(x)*0.0
    return np.sum(x%x)+y*0
def f67(x):
    y=np.sum(x)*0.0
    return np.sum(x//0.0)+y*0
def f68(x):
    y=np.sum(x)*0.0
    return np.sum(np.fmod(x,0.0))+y*0
def f69(x):
    y=np.sum(x)*0.0
    return np.sum(np.divmod(x,x)[1])+y*0
def f70(x):
    y=np.sum(x)*0.0
    return np.sum(np.exp(x))+y*0
def f71(x):
    y=np.sum(x)*0.0
    return np.sum(np.arcsin(x))+y*0
def f72(x):
    y=np.sum(x)*0.0
    return np.sum(np.arccosh(x))+y*0
def f73(x):
    y=np.sum(x)*0.0
    return np.sum(np.arctanh(x))+y*0
def f74(x):
    y=np.sum(x)*0.0
    return np.sum(np.log1p(x))+y*0
def f75(x):
    y=np.sum(x)*0.0
    return np.sum(np.logaddexp(x,x))+y*0
def f76(x):
    y=np.sum(x)*0.0
    return np.sum(np.hypot(x,x))+y*0
def f77(x):
    y=np.sum(x)*0.0
    return np.sum(np.sinh(x*1e3))+y*0
def f78(x):
    y=np.sum(x)*0.0
    return np.sum(np.tan(x))+y*0
def f79(x):
    y=np.sum(x)*0.0
    return np.sum(np.power(x,x))+y*0
def f80(x):
    y=np.sum(x)*0.0
    return np.sum(np.float_power(x,0.5))+y*0
def f81(x):
    y=np.sum(x)*0.0
    return np.sum(np.cbrt(x))+y*0
def f82(x):
    y=np.sum(x)*0.0
    return np.sum(np.reciprocal(x))+y*0
def f83(x):
    y=np.sum(x)*0.0
    return np.sum(np.maximum(x,0))+y*0
def f84(x):
    y=np.sum(x)*0.0
    return np.sum(np.fmax(x,np.nan))+y*0
def f85(x):
    y=np.sum(x)*0.0
    return np.sum(np.clip(x,0,1))+y*0
def f86(x):
    y=np.sum(x)*0.0
    return np.sum(np.where(x>0,x,0))+y*0
def f87(x):
    y=np.sum(x)*0.0
    return np.sum(x>0)+y*0
def f88(x):
    y=np.sum(x)*0.0
    return np.sum(x[x>0].mean())+y*0
def f89(x):
    y=np.sum(x)*0.0
    return np.sum(x[x>5].max(initial=0))+y*0
def f90(x):
    y=np.sum(x)*0.0
    return np.sum(x[x>5].std())+y*0
def f91(x):
    y=np.sum(x)*0.0
    return np.sum(x[0]/0.0)+y*0
def f92(x):
    y=np.sum(x)*0.0
    return np.sum(x[0]**-1)+y*0
def f93(x):
    y=np.sum(x)*0.0
    return np.sum(x[0]**0.5)+y*0
def f94(x):
    y=np.sum(x)*0.0
    return np.sum(x[0]%0)+y*0
def f95(x):
    y=np.sum(x)*0.0
    return np.sum(x[0]*1e308)+y*0
def f96(x):
    y=np.sum(x)*0.0
    return np.sum(np.log(x[0]))+y*0
def f97(x):
    y=np.sum(x)*0.0
    return np.sum(x[0]-x[0])+y*0
def f98(x):
    y=np.sum(x)*0.0
    return np.sum(np.add.reduce(x))+y*0
def f99(x):
    y=np.sum(x)*0.0
    return np.sum(np.multiply.reduce(x))+y*0
def f100(x):
    y=np.sum(x)*0.0
    return np.sum(np.maximum.reduce(x))+y*0
def f101(x):
    y=np.sum(x)*0.0
    return np.sum(np.logaddexp.reduce(x))+y*0
def f102(x):
    y=np.sum(x)*0.0
    return np.sum(np.subtract.reduce(x))+y*0
def f103(x):
    y=np.sum(x)*0.0
    return np.sum(np.dot(x,x))+y*0
def f104(x):
    y=np.sum(x)*0.0
    return np.sum(x@x)+y*0
def f105(x):
    y=np.sum(x)*0.0
    return np.sum(np.einsum("i,i",x,x))+y*0
def f106(x):
    y=np.sum(x)*0.0
    return np.sum(np.inner(x,x))+y*0
def f107(x):
    y=np.sum(x)*0.0
    return np.sum(np.outer(x,x))+y*0
def f108(x):
    y=np.sum(x)*0.0
    return np.sum(np.kron(x,x))+y*0
def f109(x):
    y=np.sum(x)*0.0
    return np.sum(np.vdot(x,x))+y*0
def f110(x):
    y=np.sum(x)*0.0
    return np.sum(np.cross(x,x))+y*0
def f111(x):
    y=np.sum(x)*0.0
    return np.sum(np.fft.fft(x).real)+y*0
def f112(x):
    y=np.sum(x)*0.0
    return np.sum(np.histogram(x,weights=x)[0])+y*0
def f113(x):
    y=np.sum(x)*0.0
    return np.sum(np.unwrap(x))+y*0
def f114(x):
    y=np.sum(x)*0.0
    return np.sum(np.round(x))+y*0
def f115(x):
    y=np.sum(x)*0.0
    return np.sum(np.sinc(x))+y*0
def f116(x):
    y=np.sum(x)*0.0
    return np.sum(np.i0(x))+y*0
def f117(x):
    y=np.sum(x)*0.0
    return np.sum(np.nan_to_num(x))+y*0
def f118(x):
    y=np.sum(x)*0.0
    return np.sum(np.isclose(x,x))+y*0
def f119(x):
    y=np.sum(x)*0.0
    return np.sum(np.allclose(x,x))+y*0
def f120(x):
    y=np.sum(x)*0.0
    return np.sum(np.array_equal(x,x))+y*0
def f121(x):
    y=np.sum(x)*0.0
    return np.sum(np.unique(x))+y*0
def f122(x):
    y=np.sum(x)*0.0
    return np.sum(np.searchsorted(x,0.5))+y*0
def f123(x):
    y=np.sum(x)*0.0
    return np.sum(np.digitize(x,x))+y*0
def f124(x):
    y=np.sum(x)*0.0
    return np.sum(x.astype(int))+y*0
def f125(x):
    y=np.sum(x)*0.0
    return np.sum(x.astype(np.float32))+y*0
def f126(x):
    y=np.sum(x)*0.0
    return np.sum(x.astype(bool))+y*0
def f127(x):
    y=np.sum(x)*0.0
    return np.sum(int(x[0]))+y*0
def f128(x):
    y=np.sum(x)*0.0
    return np.sum(float(x[0]))+y*0
def f129(x):
    y=np.sum(x)*0.0
    return np.sum(round(x[0]))+y*0
def f130(x):
    y=np.sum(x)*0.0
    return np.sum(np.cumprod(x))+y*0
def f131(x):
    y=np.sum(x)*0.0
    return np.sum(np.cumulative_sum(x))+y*0
def f132(x):
    y=np.sum(x)*0.0
    return np.sum(np.angle(x))+y*0
def f133(x):
    y=np.sum(x)*0.0
    return np.sum(np.sign(x))+y*0
def f134(x):
    y=np.sum(x)*0.0
    return np.sum(np.spacing(x))+y*0
def f135(x):
    y=np.sum(x)*0.0
    return np.sum(np.modf(x)[0])+y*0
def f136(x):
    y=np.sum(x)*0.0
    return np.sum(np.frexp(x)[0])+y*0
def f137(x):
    y=np.sum(x)*0.0
    return np.sum(np.ldexp(x,5000))+y*0
def f138(x):
    y=np.sum(x)*0.0
    return np.sum(np.exp2(x))+y*0
def f139(x):
    y=np.sum(x)*0.0
    return np.sum(np.expm1(x*1e4))+y*0
def f140(x):
    y=np.sum(x)*0.0
    return np.sum(np.square(x))+y*0
def f141(x):
    y=np.sum(x)*0.0
    return np.sum(np.float32(x[0]))+y*0
def f142(x):
    y=np.sum(x)*0.0
    return np.sum(np.float32(x[0]*1e200))+y*0
def f143(x):
    y=np.sum(x)*0.0
    return np.sum(x.var(axis=0))+y*0
def f144(x):
    y=np.sum(x)*0.0
    return np.sum(x.mean(axis=0,dtype=np.float32))+y*0
def f145(x):
    y=np.sum(x)*0.0
    return np.sum(np.mean(x,where=x>9))+y*0
def f146(x):
    y=np.sum(x)*0.0
    return np.sum(np.std(x,where=x>9))+y*0
def f147(x):
    y=np.sum(x)*0.0
    return np.sum(np.var(x,where=x>9,axis=0))+y*0
def f148(x):
    y=np.sum(x)*0.0
    return np.sum(np.nanmean(x,where=x>9))+y*0
def f149(x):
    y=np.sum(x)*0.0
    return np.sum(np.max(x,where=x>9,initial=0))+y*0
def f150(x):
    y=np.sum(x)*0.0
    return np.sum(np.roots(x))+y*0
def f151(x):
    y=np.sum(x)*0.0
    return np.sum(np.poly(x))+y*0
def f152(x):
    y=np.sum(x)*0.0
    return np.sum(np.vander(x))+y*0
def f153(x):
    y=np.sum(x)*0.0
    return np.sum(np.linalg.eigh(x)[0])+y*0
def f154(x):
    y=np.sum(x)*0.0
    return np.sum(np.linalg.qr(x)[1])+y*0
def f155(x):
    y=np.sum(x)*0.0
    return np.sum(np.linalg.matrix_rank(x))+y*0
def f156(x):
    y=np.sum(x)*0.0
    return np.sum(np.linalg.tensorinv(x))+y*0
def f157(x):
    y=np.sum(x)*0.0
    return np.sum(np.linalg.multi_dot([x,x]))+y*0
def f158(x):
    y=np.sum(x)*0.0
    return np.sum(np.trace(x))+y*0
def f159(x):
    y=np.sum(x)*0.0
    return np.sum(np.diag(x))+y*0
def f160(x):
    y=np.sum(x)*0.0
    return np.sum(np.apply_along_axis(np.mean,0,x))+y*0
def f161(x):
    y=np.sum(x)*0.0
    return np.sum(np.take(x,[0]))+y*0
def f162(x):
    y=np.sum(x)*0.0
    return np.sum(np.partition(x,0))+y*0
def f163(x):
    y=np.sum(x)*0.0
    return np.sum(np.nancumsum(x))+y*0
def f164(x):
    y=np.sum(x)*0.0
    return np.sum(np.geomspace(x[0],5,3))+y*0
def f165(x):
    y=np.sum(x)*0.0
    return np.sum(np.logspace(x[0],5,3))+y*0
def f166(x):
    y=np.sum(x)*0.0
    return np.sum(np.linspace(x[0],5,0))+y*0
def f167(x):
    y=np.sum(x)*0.0
    return np.sum(np.geomspace(1,x[0],3))+y*0
def f168(x):
    y=np.sum(x)*0.0
    return np.sum(np.bincount([0,1,1],weights=x))+y*0
def f169(x):
    y=np.sum(x)*0.0
    return np.sum(np.select([x>0],[x]))+y*0
def f170(x):
    y=np.sum(x)*0.0
    return np.sum(np.piecewise(x,[x>0],[1,2]))+y*0
def f171(x):
    y=np.sum(x)*0.0
    return np.sum(np.extract(x>0,x).mean())+y*0
def f172(x):
    y=np.sum(x)*0.0
    return np.sum(np.lib.scimath.sqrt(x))+y*0
def f173(x):
    y=np.sum(x)*0.0
    return np.sum(np.real_if_close(x))+y*0
def f174(x):
    y=np.sum(x)*0.0
    return np.sum(np.heaviside(x,0))+y*0
def f175(x):
    y=np.sum(x)*0.0
    return np.sum(np.copysign(x,x))+y*0
def f176(x):
    y=np.sum(x)*0.0
    return np.sum(np.nextafter(x,0))+y*0
def f177(x):
    y=np.sum(x)*0.0
    return np.sum(np.logical_not(x))+y*0
def f178(x):
    y=np.sum(x)*0.0
    return np.sum(np.trim_zeros(x))+y*0
def f179(x):
    y=np.sum(x)*0.0
    return np.sum(np.insert(x,0,1))+y*0
def f180(x):
    y=np.sum(x)*0.0
    return np.sum(np.pad(x,2,mode="mean"))+y*0
def f181(x):
    y=np.sum(x)*0.0
    return np.sum(np.pad(x,2,mode="median"))+y*0
def f182(x):
    y=np.sum(x)*0.0
    return np.sum(np.correlate(x,x))+y*0
def f183(x):
    y=np.sum(x)*0.0
    return np.sum(np.polyder(x))+y*0
def f184(x):
    y=np.sum(x)*0.0
    return np.sum(np.atleast_2d(x).mean(1))+y*0
def f185(x):
    y=np.sum(x)*0.0
    return np.sum(np.vectorize(lambda t:t/0)(x))+y*0
def f186(x):
    y=np.sum(x)*0.0
    return np.sum(np.array(list(x)).mean())+y*0
def f187(x):
    y=np.sum(x)*0.0
    return np.sum(sum(x)/len(x))+y*0
def f188(x):
    y=np.sum(x)*0.0
    return np.sum(max(x))+y*0
