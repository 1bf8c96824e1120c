package lunar.osd.s3.bucket;

import java.io.IOException;
import lunar.scsi.Bytes;

/**
 * Says what data were written for, so that data that nothing refers to can be found.
 *
 * @param upload the upload of which it is a part; 0 if it is the object of the key
 * @param part number of the part
 * @param key key of the object
 */
record DataOwner(long upload, int part, String key) {
    private static final int VERSION = 1;

    Bytes encode() {
        return new RecordWriter(VERSION).number(upload).number(part).text(key).toBytes();
    }

    static DataOwner decode(Bytes bytes) throws IOException {
        var in = new RecordReader(bytes, VERSION, "owner of data");
        return new DataOwner(in.number(), (int) in.number(), in.text());
    }
}
