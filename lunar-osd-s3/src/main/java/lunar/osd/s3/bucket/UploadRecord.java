package lunar.osd.s3.bucket;

import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import lunar.osd.s3.checksum.ChecksumAlgorithm;
import lunar.osd.s3.checksum.ChecksumType;
import lunar.osd.s3.checksum.MultipartChecksum;
import lunar.scsi.Bytes;

/**
 * Describes a multipart upload.
 *
 * @param key key of the object to be
 * @param initiatedMs when it was created, in milliseconds since 1970
 * @param headers headers of the object to be
 * @param checksum checksum of the object to be, which each part has of its own; empty if the client has named none
 */
public record UploadRecord(String key, long initiatedMs, Map<String, String> headers,
        Optional<MultipartChecksum> checksum) {
    private static final int WITHOUT_CHECKSUM = 1;
    private static final int VERSION = 2;

    public UploadRecord {
        headers = Map.copyOf(headers);
    }

    Bytes encode() {
        return new RecordWriter(VERSION).text(key).number(initiatedMs)
                .texts(new TreeMap<>(headers))
                .text(checksum.map(each -> each.algorithm().name()).orElse(""))
                .text(checksum.map(each -> each.type().name()).orElse("")).toBytes();
    }

    static UploadRecord decode(Bytes bytes) throws IOException {
        var in = new RecordReader(bytes, VERSION, "record of an upload");
        String key = in.text();
        long initiatedMs = in.number();
        Map<String, String> headers = in.texts();
        if (in.version() == WITHOUT_CHECKSUM) {
            return new UploadRecord(key, initiatedMs, headers, Optional.empty());
        }
        String algorithm = in.text();
        String type = in.text();
        try {
            return new UploadRecord(key, initiatedMs, headers,
                    ChecksumAlgorithm.named(algorithm).map(each -> new MultipartChecksum(each,
                            ChecksumType.valueOf(type))));
        } catch (IllegalArgumentException _) {
            throw in.damaged();
        }
    }
}
