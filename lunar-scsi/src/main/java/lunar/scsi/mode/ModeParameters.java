package lunar.scsi.mode;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lunar.scsi.CdbForm;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * Data-in of MODE SENSE and data-out of MODE SELECT (SPC-5): a header of 4 or 8 bytes, block
 * descriptors, pages.
 *
 * <pre>
 * (6)                                 (10)
 * 0 mode data length                  0 mode data length
 * 1 medium type                       2 medium type
 * 2 device-specific parameter         3 device-specific parameter
 * 3 block descriptor length           4 LONGLBA 0
 *                                     6 block descriptor length
 * </pre>
 *
 * @param mediumType MEDIUM TYPE; 0 for a disk
 * @param deviceSpecific DEVICE-SPECIFIC PARAMETER: {@link #WRITE_PROTECTED} and {@link #DPO_FUA} for a disk
 * @param blocks the block descriptor, if any
 * @param pages in the order of the data
 */
public record ModeParameters(int mediumType, int deviceSpecific, Optional<Blocks> blocks,
        List<ModePage> pages) {
    /**
     * A block descriptor (SBC-4).
     *
     * @param blockCount NUMBER OF LOGICAL BLOCKS; FFFFFFFFh in the short form for more than it can tell
     * @param blockSize LOGICAL BLOCK LENGTH in bytes, below 2^24 in the short form
     */
    public record Blocks(long blockCount, long blockSize) {}

    /** WP: the medium is write-protected (SBC-4). */
    public static final int WRITE_PROTECTED = 0x80;
    /** DPOFUA: the device takes DPO and FUA (SBC-4). */
    public static final int DPO_FUA = 0x10;

    private static final int SHORT_BLOCKS = 8;
    private static final int LONG_BLOCKS = 16;
    private static final long UINT32_MAX = 0xffff_ffffL;

    public ModeParameters {
        CdbFields.check("mediumType", mediumType, 0xff);
        CdbFields.check("deviceSpecific", deviceSpecific, 0xff);
        pages = List.copyOf(pages);
    }

    /** Whether WP is set. */
    public boolean isWriteProtected() {
        return (deviceSpecific & WRITE_PROTECTED) != 0;
    }

    /** Whether the device takes DPO and FUA. */
    public boolean supportsFua() {
        return (deviceSpecific & DPO_FUA) != 0;
    }

    /** The page of a code, subpage 0, if it is here. */
    public Optional<ModePage> page(int code) {
        return pages.stream().filter(page -> page.code() == code && page.subpage() == 0)
                .findFirst();
    }

    /** Data-in of MODE SENSE. */
    public ParameterData sense(CdbForm form, boolean longLba) {
        return () -> bytes(form, longLba, true);
    }

    /** Data-out of MODE SELECT, in which MODE DATA LENGTH is reserved. */
    public ParameterData select(CdbForm form) {
        return () -> bytes(form, false, false);
    }

    /** Reads data-in of MODE SENSE; pages that are cut off are left out. */
    public static ModeParameters decodeSense(CdbForm form, MemorySegment bytes)
            throws MalformedDataException {
        int header = headerLength(form);
        if (bytes.byteSize() < header) {
            throw new MalformedDataException("mode data of " + bytes.byteSize() + " bytes");
        }
        long fullLength = form == CdbForm.CDB6
                ? 1L + BigEndian.int8(bytes, 0)
                : 2L + BigEndian.int16(bytes, 0);
        long end = Math.max(header, Math.min(bytes.byteSize(), fullLength));
        long pagesAt = (long) header + blocksLength(form, bytes);
        var pages = new ArrayList<ModePage>();
        while (pagesAt < end) {
            Optional<ModePage> page = ModePage.decode(bytes.asSlice(pagesAt, end - pagesAt));
            if (page.isEmpty()) {
                break;
            }
            pages.add(page.get());
            pagesAt += page.get().bytes().length;
        }
        return of(form, bytes, end, pages);
    }

    /**
     * Reads data-out of MODE SELECT, which has PARAMETER LIST LENGTH bytes.
     *
     * @throws InvalidParameterListException 1Ah/00h for a list that is cut, 26h/00h for a wrong BLOCK DESCRIPTOR
     *         LENGTH
     */
    public static ModeParameters decodeSelect(CdbForm form, MemorySegment bytes)
            throws InvalidParameterListException {
        int header = headerLength(form);
        if (bytes.byteSize() < header) {
            throw InvalidParameterListException.length();
        }
        int blocks = blocksLength(form, bytes);
        if (blocks != 0 && blocks != (isLong(form, bytes) ? LONG_BLOCKS : SHORT_BLOCKS)) {
            throw InvalidParameterListException.field(form == CdbForm.CDB6 ? 3 : 6);
        }
        if (bytes.byteSize() < header + blocks) {
            throw InvalidParameterListException.length();
        }
        var pages = new ArrayList<ModePage>();
        long at = (long) header + blocks;
        while (at < bytes.byteSize()) {
            ModePage page = ModePage.decode(bytes.asSlice(at))
                    .orElseThrow(InvalidParameterListException::length);
            pages.add(page);
            at += page.bytes().length;
        }
        return of(form, bytes, bytes.byteSize(), pages);
    }

    /** Bytes before the first page in data-out of MODE SELECT: where field pointers start to count. */
    static int pagesOffset(CdbForm form, MemorySegment bytes) {
        return headerLength(form) + blocksLength(form, bytes);
    }

    /**
     * Refuses a medium type, and a block descriptor that asks for another size: only a format could make it
     * (SBC-4). A count of 0 or of all ones stands for the one there is.
     */
    void checkUnchanged(CdbForm form, MemorySegment bytes, Blocks actual)
            throws InvalidParameterListException {
        if (mediumType != 0) {
            throw InvalidParameterListException.field(form == CdbForm.CDB6 ? 1 : 2);
        }
        if (blocks.isPresent()) {
            boolean isLong = isLong(form, bytes);
            long count = blocks.get().blockCount();
            int at = headerLength(form);
            if (count != 0 && count != actual.blockCount() && count != (isLong ? -1 : UINT32_MAX)) {
                throw InvalidParameterListException.field(at);
            }
            if (blocks.get().blockSize() != actual.blockSize()) {
                throw InvalidParameterListException.field(at + (isLong ? 12 : 5));
            }
        }
    }

    private static ModeParameters of(CdbForm form, MemorySegment bytes, long end,
            List<ModePage> pages) {
        int mediumType = BigEndian.int8(bytes, form == CdbForm.CDB6 ? 1 : 2);
        int deviceSpecific = BigEndian.int8(bytes, form == CdbForm.CDB6 ? 2 : 3);
        int at = headerLength(form);
        boolean isLong = isLong(form, bytes);
        int length = isLong ? LONG_BLOCKS : SHORT_BLOCKS;
        Optional<Blocks> blocks = Optional.empty();
        if (blocksLength(form, bytes) >= length && at + length <= end) {
            blocks = Optional.of(isLong
                    ? new Blocks(BigEndian.int64(bytes, at), BigEndian.int32(bytes, at + 12))
                    : new Blocks(BigEndian.int32(bytes, at), BigEndian.int24(bytes, at + 5)));
        }
        return new ModeParameters(mediumType, deviceSpecific, blocks, pages);
    }

    private byte[] bytes(CdbForm form, boolean longLba, boolean withLength) {
        boolean isLong = longLba && form == CdbForm.CDB10;
        int blocksLength = blocks.isEmpty() ? 0 : isLong ? LONG_BLOCKS : SHORT_BLOCKS;
        byte[] head = new byte[headerLength(form) + blocksLength];
        var out = new ByteArrayOutputStream();
        out.writeBytes(head);
        pages.forEach(page -> out.writeBytes(page.bytes()));
        byte[] array = out.toByteArray();
        var bytes = MemorySegment.ofArray(array);
        if (form == CdbForm.CDB6) {
            // Data that are longer than the byte can tell cannot be asked for in six bytes either.
            BigEndian.int8(bytes, 0, withLength ? Math.min(array.length - 1, 0xff) : 0);
            BigEndian.int8(bytes, 1, mediumType);
            BigEndian.int8(bytes, 2, deviceSpecific);
            BigEndian.int8(bytes, 3, blocksLength);
        } else {
            BigEndian.int16(bytes, 0, withLength ? Math.min(array.length - 2, 0xffff) : 0);
            BigEndian.int8(bytes, 2, mediumType);
            BigEndian.int8(bytes, 3, deviceSpecific);
            BigEndian.int8(bytes, 4, BigEndian.bit(isLong, 0));
            BigEndian.int16(bytes, 6, blocksLength);
        }
        int at = headerLength(form);
        blocks.ifPresent(it -> {
            if (isLong) {
                BigEndian.int64(bytes, at, it.blockCount());
                BigEndian.int32(bytes, at + 12, it.blockSize());
            } else {
                boolean fits = it.blockCount() >= 0 && it.blockCount() <= UINT32_MAX;
                BigEndian.int32(bytes, at, fits ? it.blockCount() : UINT32_MAX);
                BigEndian.int24(bytes, at + 5, (int) it.blockSize());
            }
        });
        return array;
    }

    private static int headerLength(CdbForm form) { return form == CdbForm.CDB6 ? 4 : 8; }

    private static int blocksLength(CdbForm form, MemorySegment bytes) {
        return form == CdbForm.CDB6 ? BigEndian.int8(bytes, 3) : BigEndian.int16(bytes, 6);
    }

    private static boolean isLong(CdbForm form, MemorySegment bytes) {
        return form == CdbForm.CDB10 && BigEndian.bit(bytes, 4, 0);
    }
}
