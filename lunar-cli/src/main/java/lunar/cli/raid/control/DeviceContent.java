package lunar.cli.raid.control;

import lunar.raid.metadata.Candidate;
import lunar.raid.metadata.record.Superblock;
import lunar.raid.metadata.record.SuperblockReading;
import lunar.raid.metadata.record.VolumeDescription;
import lunar.raid.service.VolumeSpec;

/** Describes the content of a device for messages. */
public final class DeviceContent {
    private DeviceContent() {}

    /** Half a line for a person. */
    public static String describe(Candidate candidate) {
        return switch (candidate.reading()) {
            case SuperblockReading.Found(Superblock superblock) -> {
                VolumeDescription what = superblock.volume().description();
                String place = superblock.index() < what.slots()
                        ? "slot " + superblock.index()
                        : "a spare";
                yield place + " of " + title(what) + ", " + what.slots() + " members";
            }
            case SuperblockReading.Blank() -> "no superblock";
            case SuperblockReading.Damaged(String why) -> "a damaged superblock: " + why;
            case SuperblockReading.Unknown(String what) -> "a superblock of " + what;
            case SuperblockReading.Unreadable(String why) -> why;
        };
    }

    /** The short URI of a volume. */
    public static String title(VolumeDescription what) {
        return VolumeSpec.scheme(what.level()) + ":" + what.name();
    }
}
