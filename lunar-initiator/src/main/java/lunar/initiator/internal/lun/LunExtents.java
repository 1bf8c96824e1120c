package lunar.initiator.internal.lun;

import java.util.List;
import lunar.block.DeadlineException;
import lunar.block.DeviceGoneException;
import lunar.block.Extent;
import lunar.block.InvalidRequestException;
import lunar.block.NotSupportedException;
import lunar.block.OutOfRangeException;
import lunar.block.StorageException;
import lunar.scsi.MalformedDataException;
import lunar.scsi.block.GetLbaStatus;
import lunar.scsi.block.LbaStatusList;
import lunar.scsi.block.LbaStatusList.Provisioning;

/**
 * Queries a LUN that may have holes for its extents (GET LBA STATUS), until it rejects the command or its response is
 * invalid.
 */
public final class LunExtents {
    private static final System.Logger LOG = System.getLogger("lunar.initiator");
    /** A header and 32 extents. */
    private static final int STATUS_BYTES = 8 + 32 * 16;
    private static final int ALL_REPORTS = 0;

    private final LunProbe probe;
    private volatile boolean hasHoles;
    private volatile boolean refuses;

    /** @param hasHoles whether blocks that are not mapped read as zeroes, and asking makes sense */
    public LunExtents(LunProbe probe, boolean hasHoles) {
        this.probe = probe;
        this.hasHoles = hasHoles;
    }

    /** Takes over traits of the LUN that have become known, perhaps that it has holes. */
    public void learn(LunTraits known) {
        hasHoles = known.hasHoles();
    }

    /** Returns the run of equal blocks at the begin of {@code rest}; {@code rest} itself where the LUN has no holes. */
    public Extent within(Extent rest) throws StorageException {
        if (!hasHoles || refuses) {
            return rest;
        }
        var command = new GetLbaStatus(rest.lba(), STATUS_BYTES, ALL_REPORTS);
        try {
            return first(rest, LbaStatusList.decode(probe.askBriefly(command, STATUS_BYTES))
                    .extents());
        } catch (InvalidRequestException | NotSupportedException | DeadlineException
                | MalformedDataException e) {
            refuses = true;
            LOG.log(System.Logger.Level.DEBUG, "{0}: no longer querying holes: {1}",
                    probe.name(), e.getMessage());
            return rest;
        } catch (OutOfRangeException | DeviceGoneException e) {
            throw e; // the unit does not exist
        } catch (StorageException e) {
            LOG.log(System.Logger.Level.DEBUG, "{0}: query for holes failed: {1}",
                    probe.name(), e.getMessage());
            return rest; // a read will report the error
        }
    }

    /** Returns the run of blocks from the first on that the list reports alike; {@code rest} where it reports none. */
    private static Extent first(Extent rest, List<LbaStatusList.Extent> told) {
        long at = rest.lba();
        long end = rest.lba() + rest.blockCount();
        boolean allocated = true;
        for (LbaStatusList.Extent extent : told) {
            long before = at - extent.lba();
            boolean here = extent.lba() >= 0 && before >= 0 && before < extent.blockCount();
            boolean mapped = extent.provisioning() != Provisioning.DEALLOCATED;
            if (!here || at == end || (at > rest.lba() && mapped != allocated)) {
                break;
            }
            allocated = mapped;
            at += Math.min(end - at, extent.blockCount() - before);
        }
        return at == rest.lba() ? rest : new Extent(rest.lba(), at - rest.lba(), allocated);
    }
}
