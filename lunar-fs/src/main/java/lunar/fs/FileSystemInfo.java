package lunar.fs;

import java.util.List;

/**
 * Describes a file system by its own metadata.
 *
 * @param type {@code ext2}, {@code ext3}, {@code ext4}, {@code FAT12}, {@code FAT16} or {@code FAT32}
 * @param label its name, may be empty
 * @param uuid UUID or FAT's volume ID, as {@code blkid} writes it; may be empty
 * @param sizeBytes bytes of the whole file system
 * @param blockSize bytes of a block or cluster
 * @param notices notices about its state for the user, one line each: a journal to be replayed, truncation
 */
public record FileSystemInfo(String type, String label, String uuid, long sizeBytes, int blockSize,
        List<String> notices) {
    public FileSystemInfo {
        notices = List.copyOf(notices);
    }
}
