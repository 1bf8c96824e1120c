package lunar.osd.wire;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import lunar.scsi.ScsiException;

/** Decodes bytes of a peer and checks how much memory that took. */
public final class Allocation {
    /** For the objects that an entry of eight bytes becomes. */
    private static final long PER_BYTE = 64;
    /** For exceptions, texts, and classes that are loaded. */
    private static final long FIXED = 1 << 20;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory
            .getThreadMXBean();

    private Allocation() {}

    /** A decoder. */
    public interface Decoder {
        Object decode(MemorySegment bytes) throws ScsiException;
    }

    /**
     * Whether the decoder takes these bytes. Fails if it allocates more than a small multiple of them.
     *
     * @param description of the test
     */
    public static boolean decode(Decoder decoder, MemorySegment bytes, String description) {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        boolean taken;
        try {
            taken = decoder.decode(bytes) != null;
        } catch (ScsiException e) {
            assertThat(e).as(description).hasMessageNotContaining("null");
            taken = false;
        }
        assertThat(THREADS.getCurrentThreadAllocatedBytes() - before)
                .as("bytes allocated for %d, %s", bytes.byteSize(), description)
                .isLessThan(FIXED + PER_BYTE * bytes.byteSize());
        return taken;
    }
}
