package lunar.store;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import lunar.block.BlockRequest;

/** Process that writes a mebibyte atomically, each time with another byte, and prints each completed write. */
final class AtomicWriter {
    static final int BYTES = 1 << 20;

    private AtomicWriter() {}

    public static void main(String[] args) throws Exception {
        try (FileDevice device = FileDevice.open(Path.of(args[0]), FileOptions.BUFFERED
                .withIo(FileOptions.Io.valueOf(args[1])).withCreateBytes(2 * BYTES))) {
            MemorySegment data = Arena.ofAuto().allocate(BYTES, 4096);
            for (int i = 1;; i = i % 100 + 1) {
                device.execute(new BlockRequest().asAtomicWrite(0, BYTES / 512,
                        data.fill((byte) i), false));
                System.out.println(i);
            }
        }
    }
}
