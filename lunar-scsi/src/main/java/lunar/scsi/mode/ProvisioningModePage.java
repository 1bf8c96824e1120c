package lunar.scsi.mode;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.scsi.Bytes;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * The Logical Block Provisioning mode page, 1Ch/02h (SBC-4): thresholds at which the unit tells that it gets full.
 *
 * <pre>
 *  0 SITUA 0                                              of the parameters, which start at byte 4 of the page
 * 12 ENABLED 7, threshold type 5-3, threshold arming 2-0  then one descriptor after the other
 * 13 threshold resource
 * 16 threshold count
 * </pre>
 *
 * @param saveable PS
 * @param parameters 12 bytes, and 8 for each threshold
 */
public record ProvisioningModePage(boolean saveable, Bytes parameters) implements ModePage {
    /**
     * A threshold descriptor: a soft threshold.
     *
     * @param enabled ENABLED
     * @param resource what is watched
     * @param count THRESHOLD COUNT in threshold sets
     */
    public record Threshold(boolean enabled, Resource resource, long count) {}

    /** THRESHOLD RESOURCE, each with the one THRESHOLD ARMING that makes sense for it. */
    public enum Resource {
        /** Blocks that can still be mapped: crossed when they get fewer. */
        AVAILABLE(1, 0),
        /** Blocks that are mapped: crossed when they get more. */
        USED(2, 1);

        private final int code;
        private final int arming;

        Resource(int code, int arming) {
            this.code = code;
            this.arming = arming;
        }
    }

    public static final int CODE = 0x1c;
    public static final int SUBPAGE = 0x02;

    private static final int HEADER = 12;
    private static final int DESCRIPTOR = 8;
    private static final int ENABLED = 7;

    public ProvisioningModePage {
        CdbFields.check("page length", parameters.length(), 0xffff);
    }

    /** A page with a threshold for each resource, none of them enabled. */
    public static ProvisioningModePage disabled() {
        Bytes parameters = Bytes.of(new byte[HEADER + Resource.values().length * DESCRIPTOR]);
        int at = HEADER;
        for (Resource resource : Resource.values()) {
            parameters = parameters.with(at, resource.arming).with(at + 1, resource.code);
            at += DESCRIPTOR;
        }
        return new ProvisioningModePage(false, parameters);
    }

    /** A mask under which MODE SELECT may change ENABLED and THRESHOLD COUNT of each threshold. */
    static Bytes changeable() {
        Bytes mask = Bytes.of(new byte[HEADER + Resource.values().length * DESCRIPTOR]);
        for (int at = HEADER; at < mask.length(); at += DESCRIPTOR) {
            mask = mask.with(at, 1 << ENABLED);
            for (int i = 4; i < DESCRIPTOR; i++) {
                mask = mask.with(at + i, 0xff);
            }
        }
        return mask;
    }

    /** SITUA: one initiator alone is told that a threshold is crossed. */
    public boolean singleInitiator() {
        return ModePage.bit(parameters, 0, 0);
    }

    /** The thresholds; those of resources that are not known are left out. */
    public List<Threshold> thresholds() {
        MemorySegment bytes = parameters.segment();
        var thresholds = new ArrayList<Threshold>();
        for (int at = HEADER; at + DESCRIPTOR <= parameters.length(); at += DESCRIPTOR) {
            int from = at;
            for (Resource resource : Resource.values()) {
                if (resource.code == parameters.at(at + 1)) {
                    thresholds.add(new Threshold(ModePage.bit(parameters, from, ENABLED), resource,
                            BigEndian.int32(bytes, from + 4)));
                }
            }
        }
        return thresholds;
    }

    @Override
    public int code() { return CODE; }

    @Override
    public int subpage() { return SUBPAGE; }
}
