package lunar.osd.s3.bucket;

import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import lunar.scsi.Bytes;

/**
 * Describes a multipart upload.
 *
 * @param key key of the object to be
 * @param initiatedMs when it was created, in milliseconds since 1970
 * @param headers headers of the object to be
 */
public record UploadRecord(String key, long initiatedMs, Map<String, String> headers) {
    private static final int VERSION = 1;

    public UploadRecord {
        headers = Map.copyOf(headers);
    }

    Bytes encode() {
        return new RecordWriter(VERSION).text(key).number(initiatedMs)
                .texts(new TreeMap<>(headers)).toBytes();
    }

    static UploadRecord decode(Bytes bytes) throws IOException {
        var in = new RecordReader(bytes, VERSION, "record of an upload");
        return new UploadRecord(in.text(), in.number(), in.texts());
    }
}
