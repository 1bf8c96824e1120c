package lunar.osd.s3.checksum;

/**
 * Computes the CRC of two pieces of data of their CRCs. For CRCs that begin and end with all bits inverted: the CRC of
 * A and B is that of A, multiplied by x to the number of bits of B, plus that of B, as polynomials over GF(2) modulo
 * the CRC's own.
 *
 * @param polynomial the CRC's polynomial without its highest power, reflected: the lowest power is the highest bit
 * @param one the polynomial 1: the highest bit
 */
record CrcCombination(long polynomial, long one) {
    private static final long TOP_32 = 1L << 31;
    private static final long TOP_64 = 1L << 63;

    /** @throws IllegalArgumentException if the algorithm is no CRC */
    static CrcCombination of(ChecksumAlgorithm algorithm) {
        return switch (algorithm) {
            case CRC32 -> new CrcCombination(0xEDB8_8320L, TOP_32);
            case CRC32C -> new CrcCombination(0x82F6_3B78L, TOP_32);
            case CRC64NVME -> new CrcCombination(Crc64Nvme.POLYNOMIAL, TOP_64);
            case SHA1, SHA256 -> throw new IllegalArgumentException(algorithm + " is no CRC");
        };
    }

    /** Returns the CRC of two pieces. */
    byte[] combine(byte[] first, byte[] second, long secondLength) {
        long value = multiply(number(first), powerOfX(Math.multiplyExact(secondLength, 8)))
                ^ number(second);
        var bytes = new byte[first.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (value >>> (8 * (bytes.length - 1 - i)));
        }
        return bytes;
    }

    private static long number(byte[] bytes) {
        long number = 0;
        for (byte each : bytes) {
            number = number << 8 | (each & 0xff);
        }
        return number;
    }

    private long multiply(long a, long b) {
        long product = 0;
        long shifted = b;
        for (long bit = one; bit != 0; bit >>>= 1) {
            if ((a & bit) != 0) {
                product ^= shifted;
            }
            shifted = (shifted & 1) == 0 ? shifted >>> 1 : (shifted >>> 1) ^ polynomial;
        }
        return product;
    }

    private long powerOfX(long exponent) {
        long power = one;
        long square = one >>> 1;
        for (long left = exponent; left != 0; left >>>= 1) {
            if ((left & 1) != 0) {
                power = multiply(power, square);
            }
            square = multiply(square, square);
        }
        return power;
    }
}
