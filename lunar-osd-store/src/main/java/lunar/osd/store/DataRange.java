package lunar.osd.store;

/**
 * A range of the data of a user object.
 *
 * @param offset first byte
 * @param length bytes
 * @param written false for a hole, which reads as zeros
 */
public record DataRange(long offset, long length, boolean written) {}
