package lunar.osd.s3.checksum;

/** A checksum of data that arrive in pieces. For one thread. */
public interface RunningChecksum {
    /** Adds data. */
    void update(byte[] data, int at, int length);

    /** Returns the checksum of all data, most significant byte first. May be called once. */
    byte[] value();
}
