package lunar.cli.osd;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.LongConsumer;
import lunar.block.Size;
import lunar.osd.wire.ObjectId;

/**
 * Result of a transfer.
 *
 * @param bytes how many bytes
 * @param nanos how long it took
 * @param sha256 digest of the data, hexadecimal
 */
record Transfer(long bytes, long nanos, String sha256) {
    private static final int CHUNK_BYTES = 1 << 20;

    /** Copies all of a stream. */
    static Transfer copy(InputStream from, OutputStream to, LongConsumer progress)
            throws IOException {
        long startNs = System.nanoTime();
        MessageDigest digest = digest();
        byte[] chunk = new byte[CHUNK_BYTES];
        long bytes = 0;
        for (int count = from.read(chunk); count >= 0; count = from.read(chunk)) {
            to.write(chunk, 0, count);
            digest.update(chunk, 0, count);
            bytes += count;
            progress.accept(bytes);
        }
        to.flush();
        return new Transfer(bytes, System.nanoTime() - startNs,
                HexFormat.of().formatHex(digest.digest()));
    }

    private static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    /** Returns a line for people. */
    String line(String what, ObjectId object) {
        double seconds = Math.max(nanos, 1) / 1e9;
        return String.format(Locale.ROOT, "%s %s: %d bytes (%s) in %.2f s, %.1f MB/s", what,
                ObjectNumber.format(object), bytes, Size.format(bytes), seconds,
                bytes / 1e6 / seconds);
    }

    Map<String, Object> tree(ObjectId object, boolean verified) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("partition", ObjectNumber.format(object.partition()));
        tree.put("object", ObjectNumber.format(object.object()));
        tree.put("bytes", bytes);
        tree.put("seconds", nanos / 1e9);
        tree.put("sha256", sha256);
        tree.put("verified", verified);
        return tree;
    }
}
