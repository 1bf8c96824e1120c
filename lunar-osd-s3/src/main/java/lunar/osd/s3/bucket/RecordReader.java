package lunar.osd.s3.bucket;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.TreeMap;
import lunar.osd.s3.checksum.ChecksumAlgorithm;
import lunar.osd.s3.checksum.ObjectChecksum;
import lunar.scsi.Bytes;

/** Decodes what {@link RecordWriter} has encoded, or refuses it. */
final class RecordReader {
    private final ByteBuffer in;
    private final String what;
    private final int version;

    /** @param latest latest version that is known, from 1 on */
    RecordReader(Bytes bytes, int latest, String what) throws IOException {
        in = ByteBuffer.wrap(bytes.toArray());
        this.what = what;
        version = in.hasRemaining() ? in.get() : 0;
        if (version < 1 || version > latest) {
            throw damaged();
        }
    }

    /** Returns the version of the record. */
    int version() { return version; }

    IOException damaged() {
        return new IOException(
                "the " + what + " is damaged, or has been written by a later version");
    }

    long number() throws IOException {
        try {
            return in.getLong();
        } catch (BufferUnderflowException _) {
            throw damaged();
        }
    }

    int count(int max) throws IOException {
        long count = number();
        if (count < 0 || count > max) {
            throw damaged();
        }
        return (int) count;
    }

    String text() throws IOException {
        try {
            var bytes = new byte[in.getShort() & 0xffff];
            in.get(bytes);
            return new String(bytes, StandardCharsets.UTF_8);
        } catch (BufferUnderflowException _) {
            throw damaged();
        }
    }

    SequencedMap<String, String> texts() throws IOException {
        var texts = new TreeMap<String, String>();
        for (int left = count(in.remaining()); left > 0; left--) {
            texts.put(text(), text());
        }
        return texts;
    }

    Optional<ObjectChecksum> checksum() throws IOException {
        String algorithm = text();
        String value = text();
        return ChecksumAlgorithm.named(algorithm).map(known -> new ObjectChecksum(known, value));
    }
}
