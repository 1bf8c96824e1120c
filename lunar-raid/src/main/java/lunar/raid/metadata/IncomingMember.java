package lunar.raid.metadata;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.raid.metadata.page.MemberSet;
import lunar.raid.metadata.page.PageWriter;
import lunar.raid.metadata.page.RetryingDevice;
import lunar.raid.metadata.superblock.Superblocks;

/**
 * A device that is to come into a slot, with the pages found on it: the constructor reads them, on the caller's thread,
 * so that {@link #install} does not block.
 */
final class IncomingMember {
    final int slot;
    final UUID uuid;
    private final PageWriter.Known superblock;
    private final List<PageWriter.Known> pages = new ArrayList<>();
    final RetryingDevice device;
    /** Guarded by the volume's metadata: it has not taken something. */
    boolean hasFailed;

    /** Examines a device. Blocks. */
    IncomingMember(int slot, UUID uuid, BlockDevice given, MemberSet members,
            Superblocks superblocks, List<PageWriter> writers) {
        this.slot = slot;
        this.uuid = uuid;
        device = members.retrying(given);
        superblock = superblocks.know(device);
        for (PageWriter writer : writers) {
            pages.add(writer.know(device));
        }
    }

    /** Gives the device pages from now on, and superblocks as soon as the table has it. */
    void install(MemberSet members, Superblocks superblocks) {
        for (PageWriter.Known page : pages) {
            page.install(slot);
        }
        if (!superblocks.has(uuid)) { // a spare has had them all the time
            superblocks.add(uuid, superblock);
        }
        members.add(slot, device);
    }
}
