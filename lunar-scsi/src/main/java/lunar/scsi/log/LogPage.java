package lunar.scsi.log;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.scsi.Bytes;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * Data-in of LOG SENSE: a log page (SPC-5).
 *
 * <pre>
 * 0 DS 7, SPF 6, page code 5-0   1 subpage code   2 page length   4 parameters, or a list of pages
 * </pre>
 *
 * @param code PAGE CODE
 * @param subpage SUBPAGE CODE; SPF is set where it is not 0
 * @param content what follows the header
 */
public record LogPage(int code, int subpage, Bytes content) implements ParameterData {
    /** PAGE CODE of the pages that list pages. */
    public static final int SUPPORTED_PAGES = 0x00;
    public static final int WRITE_ERRORS = 0x02;
    public static final int READ_ERRORS = 0x03;
    public static final int VERIFY_ERRORS = 0x05;
    public static final int PROVISIONING = 0x0c;
    public static final int START_STOP = 0x0e;
    public static final int SELF_TEST_RESULTS = 0x10;
    public static final int INFORMATIONAL_EXCEPTIONS = 0x2f;
    /** SUBPAGE CODE of the pages that list subpages. */
    public static final int ALL_SUBPAGES = 0xff;

    private static final int HEADER = 4;
    private static final int DS_BIT = 7;
    private static final int SPF_BIT = 6;

    public LogPage {
        CdbFields.check("code", code, 0x3f);
        CdbFields.check("subpage", subpage, 0xff);
        CdbFields.check("page length", content.length(), 0xffff);
    }

    /** A page of parameters, which are in ascending order of their codes. */
    public static LogPage of(int code, List<LogParameter> parameters) {
        var content = new ByteArrayOutputStream();
        parameters.forEach(parameter -> content.writeBytes(parameter.bytes()));
        return new LogPage(code, 0, Bytes.of(content.toByteArray()));
    }

    /** The parameters of a page that has some; those that are cut off are left out. */
    public List<LogParameter> parameters() {
        MemorySegment bytes = content.segment();
        var parameters = new ArrayList<LogParameter>();
        long at = 0;
        while (at + LogParameter.HEADER <= bytes.byteSize()) {
            int length = BigEndian.int8(bytes, at + 3);
            if (at + LogParameter.HEADER + length > bytes.byteSize()) {
                break;
            }
            parameters.add(new LogParameter(BigEndian.int16(bytes, at),
                    BigEndian.int8(bytes, at + 2),
                    Bytes.of(bytes.asSlice(at + LogParameter.HEADER, length))));
            at += LogParameter.HEADER + length;
        }
        return parameters;
    }

    /** Reads the page; bytes that are cut off are left out. */
    public static LogPage decode(MemorySegment bytes) throws MalformedDataException {
        if (bytes.byteSize() < HEADER) {
            throw new MalformedDataException("log page of " + bytes.byteSize() + " bytes");
        }
        long length = Math.min(BigEndian.int16(bytes, 2), bytes.byteSize() - HEADER);
        return new LogPage(BigEndian.int8(bytes, 0) & 0x3f,
                BigEndian.bit(bytes, 0, SPF_BIT) ? BigEndian.int8(bytes, 1) : 0,
                Bytes.of(bytes.asSlice(HEADER, length)));
    }

    @Override
    public byte[] bytes() {
        byte[] array = new byte[HEADER + content.length()];
        var bytes = MemorySegment.ofArray(array);
        // DS: the parameters are not saved.
        BigEndian.int8(bytes, 0,
                1 << DS_BIT | BigEndian.bit(subpage != 0, SPF_BIT) | code);
        BigEndian.int8(bytes, 1, subpage);
        BigEndian.int16(bytes, 2, content.length());
        MemorySegment.copy(content.segment(), 0, bytes, HEADER, content.length());
        return array;
    }
}
