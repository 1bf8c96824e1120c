package lunar.scsi.vpd;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import lunar.scsi.Bytes;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * VPD page 8Fh (SPC-5 section 7.7.19): what a copy manager can do, in descriptors. Those of the limits of EXTENDED COPY
 * and of general copy operations are made from the limits themselves, which {@code lunar.scsi.copy} has.
 *
 * @param descriptors by ascending type
 */
public record ThirdPartyCopy(List<Descriptor> descriptors) implements VpdPage {
    /**
     * A third-party copy descriptor.
     *
     * @param type THIRD-PARTY COPY DESCRIPTOR TYPE
     * @param content what follows its length, a multiple of four bytes
     */
    public record Descriptor(int type, Bytes content) {
        public Descriptor {
            CdbFields.check("type", type, 0xffff);
            if (content.length() % 4 != 0) {
                throw new IllegalArgumentException("descriptor of " + content.length() + " bytes");
            }
        }

        /** The content filled up with zeroes to a multiple of four. */
        private static Descriptor padded(int type, ByteArrayOutputStream content) {
            while (content.size() % 4 != 0) {
                content.write(0);
            }
            return new Descriptor(type, Bytes.of(content.toByteArray()));
        }

        /**
         * Block Device ROD Token Limits (SBC-4 section 6.6.9.3), the one that Windows reads.
         *
         * @param maxRanges ranges of a command
         * @param maxInactivitySeconds longest inactivity timeout of a token
         * @param defaultInactivitySeconds the one of a token that asked for none
         * @param maxBlocks blocks of a token
         * @param optimalBlocks blocks that are best for one command
         */
        public static Descriptor blockTokenLimits(int maxRanges, long maxInactivitySeconds,
                long defaultInactivitySeconds, long maxBlocks, long optimalBlocks) {
            var bytes = MemorySegment.ofArray(new byte[32]);
            BigEndian.int16(bytes, 6, maxRanges);
            BigEndian.int32(bytes, 8, maxInactivitySeconds);
            BigEndian.int32(bytes, 12, defaultInactivitySeconds);
            BigEndian.int64(bytes, 16, maxBlocks);
            BigEndian.int64(bytes, 24, optimalBlocks);
            return new Descriptor(0x0000, Bytes.of(bytes));
        }

        /** Supported Commands: service actions by operation code. */
        public static Descriptor commands(SortedMap<Integer, List<Integer>> actions) {
            var list = new ByteArrayOutputStream();
            for (Map.Entry<Integer, List<Integer>> command : actions.entrySet()) {
                list.write(command.getKey());
                list.write(command.getValue().size());
                command.getValue().forEach(list::write);
            }
            var content = new ByteArrayOutputStream();
            content.write(list.size());
            content.writeBytes(list.toByteArray());
            return padded(0x0001, content);
        }

        /** Supported Descriptors: types of CSCD and segment descriptors. */
        public static Descriptor descriptorTypes(List<Integer> types) {
            var content = new ByteArrayOutputStream();
            content.write(types.size());
            types.forEach(content::write);
            return padded(0x0008, content);
        }

        /** Supported CSCD IDs: those besides the indices of descriptors. */
        public static Descriptor cscdIds(List<Integer> ids) {
            var content = new ByteArrayOutputStream();
            content.write(0);
            content.write(2 * ids.size());
            ids.forEach(id -> {
                content.write(id >> 8);
                content.write(id);
            });
            return padded(0x000c, content);
        }

        /**
         * ROD Token Features, of block devices; tokens of other copy managers are not taken.
         *
         * @param maxLifetimeSeconds a token ends after that
         * @param maxInactivitySeconds a token that is not used ends after that
         * @param maxBytes bytes of a token
         * @param optimalBytes bytes that are best for one command
         */
        public static Descriptor tokenFeatures(long maxLifetimeSeconds, long maxInactivitySeconds,
                long maxBytes, long optimalBytes) {
            var bytes = MemorySegment.ofArray(new byte[44 + 48]);
            BigEndian.int32(bytes, 16, maxLifetimeSeconds);
            BigEndian.int32(bytes, 20, maxInactivitySeconds);
            BigEndian.int16(bytes, 42, 48);
            BigEndian.int16(bytes, 44 + 2, 44);
            BigEndian.int64(bytes, 44 + 8, maxBytes);
            BigEndian.int64(bytes, 44 + 16, optimalBytes);
            BigEndian.int64(bytes, 44 + 24, maxBytes);
            BigEndian.int64(bytes, 44 + 32, optimalBytes);
            return new Descriptor(0x0106, Bytes.of(bytes));
        }

        /** Supported ROD Types: tokens of these can be made and used. */
        public static Descriptor rodTypes(List<RodType> types) {
            var bytes = MemorySegment.ofArray(new byte[4 + 64 * types.size()]);
            BigEndian.int16(bytes, 2, 64 * types.size());
            for (int i = 0; i < types.size(); i++) {
                int at = 4 + 64 * i;
                BigEndian.int32(bytes, at, types.get(i).type);
                BigEndian.int8(bytes, at + 4, BigEndian.bit(types.get(i).in, 1)
                        | BigEndian.bit(types.get(i).out, 0));
            }
            return new Descriptor(0x0108, Bytes.of(bytes));
        }
    }

    /**
     * A type of ROD.
     *
     * @param type ROD TYPE
     * @param in TOKEN_IN: a token of it can be given
     * @param out TOKEN_OUT: a token of it can be made
     */
    public record RodType(long type, boolean in, boolean out) {}

    public static final int CODE = 0x8f;

    private static final int HEADER = 4;

    public ThirdPartyCopy {
        descriptors = List.copyOf(descriptors);
    }

    static ThirdPartyCopy decode(MemorySegment content) {
        var descriptors = new ArrayList<Descriptor>();
        long at = 0;
        while (at + HEADER <= content.byteSize()) {
            int length = BigEndian.int16(content, at + 2);
            if (length % 4 != 0 || at + HEADER + length > content.byteSize()) {
                break; // cut off
            }
            descriptors.add(new Descriptor(BigEndian.int16(content, at),
                    Bytes.of(content.asSlice(at + HEADER, length))));
            at += HEADER + length;
        }
        return new ThirdPartyCopy(descriptors);
    }

    @Override
    public int pageCode() { return CODE; }

    @Override
    public byte[] content() {
        var content = new ByteArrayOutputStream();
        for (Descriptor descriptor : descriptors) {
            byte[] header = new byte[HEADER];
            BigEndian.int16(MemorySegment.ofArray(header), 0, descriptor.type);
            BigEndian.int16(MemorySegment.ofArray(header), 2, descriptor.content.length());
            content.writeBytes(header);
            content.writeBytes(descriptor.content.toArray());
        }
        return content.toByteArray();
    }
}
