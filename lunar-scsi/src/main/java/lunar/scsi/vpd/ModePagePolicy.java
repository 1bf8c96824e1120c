package lunar.scsi.vpd;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.scsi.mode.ModeSense;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * VPD page 87h (SPC-5): how the values of mode pages are shared between ports and nexuses.
 *
 * @param policies in the order of the page
 */
public record ModePagePolicy(List<Policy> policies) implements VpdPage {
    /**
     * A mode page policy descriptor.
     *
     * @param page POLICY PAGE CODE; 3Fh for all that are not named
     * @param subpage POLICY SUBPAGE CODE; FFh for all that are not named
     * @param multipleUnits MLUS: logical units share the page
     * @param policy MODE PAGE POLICY: {@link #SHARED}, 1 per target port, 3 per nexus
     */
    public record Policy(int page, int subpage, boolean multipleUnits, int policy) {
        public Policy {
            CdbFields.check("page", page, 0x3f);
            CdbFields.check("subpage", subpage, 0xff);
            CdbFields.check("policy", policy, 3);
        }
    }

    public static final int CODE = 0x87;
    /** MODE PAGE POLICY: all nexuses see the same values. */
    public static final int SHARED = 0;

    private static final int LENGTH = 4;

    public ModePagePolicy {
        policies = List.copyOf(policies);
    }

    /** Every page is shared by the nexuses of its logical unit. */
    public static ModePagePolicy shared() {
        return new ModePagePolicy(List.of(
                new Policy(ModeSense.ALL_PAGES, ModeSense.ALL_SUBPAGES, false, SHARED)));
    }

    static ModePagePolicy decode(MemorySegment content) {
        var policies = new ArrayList<Policy>();
        for (long at = 0; at + LENGTH <= content.byteSize(); at += LENGTH) {
            policies.add(new Policy(BigEndian.int8(content, at) & 0x3f,
                    BigEndian.int8(content, at + 1), BigEndian.bit(content, at + 2, 7),
                    BigEndian.int8(content, at + 2) & 3));
        }
        return new ModePagePolicy(policies);
    }

    @Override
    public int pageCode() { return CODE; }

    @Override
    public byte[] content() {
        byte[] content = new byte[LENGTH * policies.size()];
        var bytes = MemorySegment.ofArray(content);
        int at = 0;
        for (Policy policy : policies) {
            BigEndian.int8(bytes, at, policy.page());
            BigEndian.int8(bytes, at + 1, policy.subpage());
            BigEndian.int8(bytes, at + 2,
                    BigEndian.bit(policy.multipleUnits(), 7) | policy.policy());
            at += LENGTH;
        }
        return content;
    }
}
