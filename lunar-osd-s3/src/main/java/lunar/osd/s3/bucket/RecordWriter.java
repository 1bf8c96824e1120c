package lunar.osd.s3.bucket;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import lunar.osd.s3.checksum.ObjectChecksum;
import lunar.scsi.Bytes;

/**
 * Encodes records: a version byte, then fields. Numbers have 8 bytes, most significant first; texts are UTF-8 after
 * their length in 2 bytes.
 */
final class RecordWriter {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    RecordWriter(int version) { out.write(version); }

    RecordWriter number(long value) {
        for (int shift = Long.SIZE - 8; shift >= 0; shift -= 8) {
            out.write((int) (value >>> shift));
        }
        return this;
    }

    RecordWriter text(String value) {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        if (bytes.length > 0xffff) {
            throw new IllegalArgumentException("a text of " + bytes.length + " bytes");
        }
        out.write(bytes.length >> 8);
        out.write(bytes.length);
        out.writeBytes(bytes);
        return this;
    }

    RecordWriter texts(Map<String, String> values) {
        number(values.size());
        values.forEach((name, value) -> text(name).text(value));
        return this;
    }

    RecordWriter checksum(Optional<ObjectChecksum> value) {
        return text(value.map(each -> each.algorithm().name()).orElse(""))
                .text(value.map(ObjectChecksum::value).orElse(""));
    }

    Bytes toBytes() { return Bytes.of(out.toByteArray()); }
}
