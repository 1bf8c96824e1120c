package lunar.fs;

/**
 * A part of a device that may contain a file system.
 *
 * @param number of the partition, as the system counts them; 0 for the whole device
 * @param type type from the partition table, for display
 * @param name name from the partition table, may be empty
 * @param offsetBytes its start on the device
 * @param sizeBytes its length
 */
public record Volume(int number, String type, String name, long offsetBytes, long sizeBytes) {}
