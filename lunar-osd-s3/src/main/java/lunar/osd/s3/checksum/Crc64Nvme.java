package lunar.osd.s3.checksum;

/**
 * CRC-64/NVME: polynomial AD93D23594C93659h, reflected, with all bits set before and inverted after (NVM Command Set
 * Specification, "64b CRC"). Eight bytes at a time, by tables ("slicing").
 */
final class Crc64Nvme implements RunningChecksum {
    static final long POLYNOMIAL = 0x9A6C_9329_AC4B_C9B5L; // bits reversed
    private static final int SLICES = 8;
    private static final long[][] TABLES = tables();

    private long crc = -1;

    private static long[][] tables() {
        var tables = new long[SLICES][256];
        for (int i = 0; i < 256; i++) {
            long value = i;
            for (int bit = 0; bit < 8; bit++) {
                value = (value & 1) == 0 ? value >>> 1 : (value >>> 1) ^ POLYNOMIAL;
            }
            tables[0][i] = value;
        }
        for (int slice = 1; slice < SLICES; slice++) {
            for (int i = 0; i < 256; i++) {
                long before = tables[slice - 1][i];
                tables[slice][i] = tables[0][(int) before & 0xff] ^ (before >>> 8);
            }
        }
        return tables;
    }

    @Override
    public void update(byte[] data, int at, int length) {
        int end = at + length;
        int i = at;
        long now = crc;
        for (; end - i >= SLICES; i += SLICES) {
            long next = 0;
            for (int k = 0; k < SLICES; k++) {
                int index = ((int) (now >>> (8 * k)) ^ data[i + k]) & 0xff;
                next ^= TABLES[SLICES - 1 - k][index];
            }
            now = next;
        }
        for (; i < end; i++) {
            now = TABLES[0][((int) now ^ data[i]) & 0xff] ^ (now >>> 8);
        }
        crc = now;
    }

    @Override
    public byte[] value() {
        long value = ~crc;
        var bytes = new byte[Long.BYTES];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (value >>> (8 * (bytes.length - 1 - i)));
        }
        return bytes;
    }
}
