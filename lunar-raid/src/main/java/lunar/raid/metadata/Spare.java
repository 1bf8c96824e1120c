package lunar.raid.metadata;

import java.util.UUID;

/**
 * A spare of a volume.
 *
 * @param dataBlocks blocks of data that it has room for
 * @param isAway whether it cannot be used: it was not there, or did not take a superblock
 */
public record Spare(UUID uuid, long dataBlocks, boolean isAway) {}
