// What kernels of images ask of a GPU beyond C++: fast memory, tensor cores and how they are fed.
// Tests have the same as loops (tests/support/emulated_warps.h). After prelude.cuh.
#ifdef __CUDACC__
#define IMAGE_KERNEL extern "C" __global__ void __launch_bounds__(kThreads, kResident)
#define FAST_BYTES extern __shared__ __align__(128) unsigned char fast_bytes[];

// Of a float as bf16, to the nearest, ties to even.
DEVICE unsigned short bits_of(float value) {
  unsigned short bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
DEVICE unsigned packed(float low, float high) {
  unsigned both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}
DEVICE unsigned shared_address(const void* it) { return unsigned(__cvta_generic_to_shared(it)); }
// 16 bytes on their way, or zeros.
DEVICE void fetch(unsigned to, const void* from, bool inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
               "r"(inside ? 16 : 0)
               : "memory");
}
DEVICE void fetched() {
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
}
DEVICE void store_words(unsigned to, unsigned a, unsigned b, unsigned c, unsigned d) {
  asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(to), "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}
DEVICE void matrices(unsigned (&to)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}
DEVICE void turned_matrices(unsigned (&to)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}
DEVICE uint4 shared_words(unsigned address) {
  uint4 it;
  asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(it.x), "=r"(it.y), "=r"(it.z), "=r"(it.w)
               : "r"(address)
               : "memory");
  return it;
}
DEVICE void multiply_add(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
#endif
