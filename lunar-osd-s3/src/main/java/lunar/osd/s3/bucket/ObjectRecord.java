package lunar.osd.s3.bucket;

import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import lunar.osd.s3.checksum.ObjectChecksum;
import lunar.scsi.Bytes;

/**
 * Describes the object of a key.
 *
 * @param data the user object with the data; 0 if there are none
 * @param manifest whether that user object has a {@link Manifest} in place of the data
 * @param length bytes
 * @param modifiedMs when it was written, in milliseconds since 1970
 * @param etag MD5 in hexadecimal; of a multipart upload followed by the number of parts
 * @param headers headers of responses, such as content-type, and user metadata; names in lower case
 * @param checksum checksum that the client has sent
 * @param upload the multipart upload that it was; 0 if it was none
 */
public record ObjectRecord(long data, boolean manifest, long length, long modifiedMs, String etag,
        Map<String, String> headers, Optional<ObjectChecksum> checksum, long upload) {
    private static final int VERSION = 1;

    public ObjectRecord {
        headers = Map.copyOf(headers);
    }

    Bytes encode() {
        return new RecordWriter(VERSION).number(data).number(manifest ? 1 : 0).number(length)
                .number(modifiedMs).text(etag).texts(new TreeMap<>(headers)).checksum(checksum)
                .number(upload).toBytes();
    }

    static ObjectRecord decode(Bytes bytes) throws IOException {
        var in = new RecordReader(bytes, VERSION, "record of a key");
        return new ObjectRecord(in.number(), in.number() != 0, in.number(), in.number(),
                in.text(), in.texts(), in.checksum(), in.number());
    }

    /** Returns it with other headers and time. */
    public ObjectRecord with(Map<String, String> otherHeaders, long timeMs) {
        return new ObjectRecord(data, manifest, length, timeMs, etag, otherHeaders, checksum,
                upload);
    }
}
