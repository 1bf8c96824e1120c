package lunar.osd.s3.bucket;

import java.io.IOException;
import java.util.Optional;
import lunar.osd.s3.checksum.ObjectChecksum;
import lunar.scsi.Bytes;

/**
 * Describes a part of a multipart upload.
 *
 * @param data the user object with the data; 0 if there are none
 * @param length bytes
 * @param modifiedMs when it was written, in milliseconds since 1970
 * @param etag MD5 in hexadecimal
 * @param checksum checksum that the client has sent
 */
public record PartRecord(long data, long length, long modifiedMs, String etag,
        Optional<ObjectChecksum> checksum) {
    private static final int VERSION = 1;

    Bytes encode() {
        return new RecordWriter(VERSION).number(data).number(length).number(modifiedMs).text(etag)
                .checksum(checksum).toBytes();
    }

    static PartRecord decode(Bytes bytes) throws IOException {
        var in = new RecordReader(bytes, VERSION, "record of a part");
        return new PartRecord(in.number(), in.number(), in.number(), in.text(), in.checksum());
    }
}
