package lunar.osd.s3.checksum;

/** Input of the checksum of a multipart object. */
public enum ChecksumType {
    /** The checksums of its parts; the value ends with a hyphen and the number of parts. */
    COMPOSITE,
    /** Its data. */
    FULL_OBJECT
}
