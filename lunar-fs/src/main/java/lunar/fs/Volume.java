package lunar.fs;

/**
 * A part of a device that may hold a file system.
 *
 * @param number of the partition, as the system counts them; 0 for the whole device
 * @param type what the partition table says is in it, for a person
 * @param name what the partition table calls it, may be empty
 * @param offsetBytes where it starts on the device
 * @param sizeBytes its length
 */
public record Volume(int number, String type, String name, long offsetBytes, long sizeBytes) {}
