package lunar.scsi.vpd;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.Ascii;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * Standard INQUIRY data (SPC-5).
 *
 * @param qualifier PERIPHERAL QUALIFIER: 0 connected, 1 not now, 3 never
 * @param deviceType PERIPHERAL DEVICE TYPE
 * @param removable RMB
 * @param version VERSION: 6 for SPC-4, 7 for SPC-5
 * @param normalAca NORMACA
 * @param hierarchical HISUP: REPORT LUNS tells all LUNs
 * @param storageController SCCS
 * @param tpgs TPGS: 0 none, 1 implicit, 2 explicit, 3 both kinds of asymmetric access
 * @param thirdPartyCopy 3PC
 * @param protect PROTECT: protection information may be there
 * @param enclosure ENCSERV
 * @param multiPort MULTIP
 * @param commandQueuing CMDQUE
 * @param vendor T10 VENDOR IDENTIFICATION, to 8 characters
 * @param product PRODUCT IDENTIFICATION, to 16 characters
 * @param revision PRODUCT REVISION LEVEL, to 4 characters
 * @param versionDescriptors standards the device claims to obey, to 8
 */
public record StandardInquiry(int qualifier, int deviceType, boolean removable, int version,
        boolean normalAca, boolean hierarchical, boolean storageController, int tpgs,
        boolean thirdPartyCopy, boolean protect, boolean enclosure, boolean multiPort,
        boolean commandQueuing, String vendor, String product, String revision,
        List<Integer> versionDescriptors) implements ParameterData {
    /** PERIPHERAL DEVICE TYPE of a direct-access block device. */
    public static final int DISK = 0x00;
    /** PERIPHERAL DEVICE TYPE of a storage array controller. */
    public static final int CONTROLLER = 0x0c;
    /** PERIPHERAL DEVICE TYPE of an object-based storage device. */
    public static final int OSD = 0x11;
    /** PERIPHERAL DEVICE TYPE of a well-known logical unit. */
    public static final int WELL_KNOWN = 0x1e;
    /** PERIPHERAL DEVICE TYPE of nothing. */
    public static final int UNKNOWN = 0x1f;

    /** SAM-5, SPC-4, SPC-5, SBC-3, SBC-4 and iSCSI, no versions claimed (SPC-5). */
    private static final List<Integer> DISK_STANDARDS = List.of(0x00a0, 0x0460, 0x05c0, 0x04c0,
            0x0600, 0x0960);
    /** SAM-5, SPC-4, SPC-5 and iSCSI. */
    private static final List<Integer> WELL_KNOWN_STANDARDS = List.of(0x00a0, 0x0460, 0x05c0,
            0x0960);
    private static final int SPC4 = 6;

    private static final int MIN_LENGTH = 5;
    private static final int LENGTH = 96;
    private static final int RESPONSE_FORMAT = 2;
    private static final int VENDOR = 8;
    private static final int PRODUCT = 16;
    private static final int REVISION = 32;
    private static final int VERSION_DESCRIPTORS = 58;
    private static final int MAX_VERSION_DESCRIPTORS = 8;

    public StandardInquiry {
        CdbFields.check("qualifier", qualifier, 7);
        CdbFields.check("deviceType", deviceType, 0x1f);
        CdbFields.check("version", version, 0xff);
        CdbFields.check("tpgs", tpgs, 3);
        Ascii.check("vendor", vendor, 8);
        Ascii.check("product", product, 16);
        Ascii.check("revision", revision, 4);
        CdbFields.check("version descriptors", versionDescriptors.size(),
                MAX_VERSION_DESCRIPTORS);
        versionDescriptors = List.copyOf(versionDescriptors);
    }

    /** A disk that queues commands, by SPC-4 and SBC-3. */
    public static StandardInquiry disk(String vendor, String product, String revision) {
        return new StandardInquiry(0, DISK, false, SPC4, false, true, false, 0, false, false, false,
                false, true, vendor, product, revision, DISK_STANDARDS);
    }

    /** A well-known logical unit (SPC-5 chapter 9). */
    public static StandardInquiry wellKnown(String vendor, String product, String revision) {
        return new StandardInquiry(0, WELL_KNOWN, false, SPC4, false, true, false, 0, false, false,
                false, false, true, vendor, product, revision, WELL_KNOWN_STANDARDS);
    }

    /** Returns the data of a target for a LUN without a logical unit (SPC-5, qualifier 3). */
    public static StandardInquiry nothing(String vendor, String product, String revision) {
        return new StandardInquiry(3, UNKNOWN, false, SPC4, false, true, false, 0, false, false,
                false, false, true, vendor, product, revision, List.of());
    }

    /** Returns these data with TPGS. */
    public StandardInquiry withTpgs(int value) {
        return new StandardInquiry(qualifier, deviceType, removable, version, normalAca,
                hierarchical, storageController, value, thirdPartyCopy, protect, enclosure,
                multiPort, commandQueuing, vendor, product, revision, versionDescriptors);
    }

    /** Returns these data with 3PC. */
    public StandardInquiry withThirdPartyCopy(boolean value) {
        return new StandardInquiry(qualifier, deviceType, removable, version, normalAca,
                hierarchical, storageController, tpgs, value, protect, enclosure, multiPort,
                commandQueuing, vendor, product, revision, versionDescriptors);
    }

    /** Returns these data with RMB. */
    public StandardInquiry withRemovable(boolean value) {
        return new StandardInquiry(qualifier, deviceType, value, version, normalAca, hierarchical,
                storageController, tpgs, thirdPartyCopy, protect, enclosure, multiPort,
                commandQueuing, vendor, product, revision, versionDescriptors);
    }

    /** Returns these data with MULTIP. */
    public StandardInquiry withMultiPort(boolean value) {
        return new StandardInquiry(qualifier, deviceType, removable, version, normalAca,
                hierarchical, storageController, tpgs, thirdPartyCopy, protect, enclosure, value,
                commandQueuing, vendor, product, revision, versionDescriptors);
    }

    /** Whether something is connected at this LUN. */
    public boolean isConnected() {
        return qualifier == 0;
    }

    @Override
    public byte[] bytes() {
        byte[] array = new byte[LENGTH];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int8(bytes, 0, qualifier << 5 | deviceType);
        BigEndian.int8(bytes, 1, BigEndian.bit(removable, 7));
        BigEndian.int8(bytes, 2, version);
        BigEndian.int8(bytes, 3, BigEndian.bit(normalAca, 5) | BigEndian.bit(hierarchical, 4)
                | RESPONSE_FORMAT);
        BigEndian.int8(bytes, 4, LENGTH - 5);
        BigEndian.int8(bytes, 5, BigEndian.bit(storageController, 7) | tpgs << 4
                | BigEndian.bit(thirdPartyCopy, 3) | BigEndian.bit(protect, 0));
        BigEndian.int8(bytes, 6, BigEndian.bit(enclosure, 6) | BigEndian.bit(multiPort, 4));
        BigEndian.int8(bytes, 7, BigEndian.bit(commandQueuing, 1));
        Ascii.write(bytes, VENDOR, 8, vendor);
        Ascii.write(bytes, PRODUCT, 16, product);
        Ascii.write(bytes, REVISION, 4, revision);
        for (int i = 0; i < versionDescriptors.size(); i++) {
            BigEndian.int16(bytes, VERSION_DESCRIPTORS + 2 * i, versionDescriptors.get(i));
        }
        return array;
    }

    /** Reads INQUIRY data, cut or not: fields that are cut off are empty. */
    public static StandardInquiry decode(MemorySegment given) throws MalformedDataException {
        if (given.byteSize() < MIN_LENGTH) {
            throw new MalformedDataException("INQUIRY data of " + given.byteSize() + " bytes");
        }
        long length = Math.min(given.byteSize(), 5 + BigEndian.int8(given, 4));
        MemorySegment bytes = BigEndian.padded(given.asSlice(0, length), LENGTH);
        var standards = new ArrayList<Integer>();
        for (int i = 0; i < MAX_VERSION_DESCRIPTORS; i++) {
            int standard = BigEndian.int16(bytes, VERSION_DESCRIPTORS + 2 * i);
            if (standard != 0) {
                standards.add(standard);
            }
        }
        return new StandardInquiry(BigEndian.int8(bytes, 0) >> 5, BigEndian.int8(bytes, 0) & 0x1f,
                BigEndian.bit(bytes, 1, 7), BigEndian.int8(bytes, 2), BigEndian.bit(bytes, 3, 5),
                BigEndian.bit(bytes, 3, 4), BigEndian.bit(bytes, 5, 7),
                BigEndian.int8(bytes, 5) >> 4 & 3, BigEndian.bit(bytes, 5, 3),
                BigEndian.bit(bytes, 5, 0), BigEndian.bit(bytes, 6, 6), BigEndian.bit(bytes, 6, 4),
                BigEndian.bit(bytes, 7, 1), Ascii.read(bytes, VENDOR, 8),
                Ascii.read(bytes, PRODUCT, 16), Ascii.read(bytes, REVISION, 4), standards);
    }
}
