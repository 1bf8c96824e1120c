package lunar.scsi.vpd;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * VPD page 00h (SPC-5): the pages there are.
 *
 * @param codes page codes in ascending order
 */
public record SupportedVpdPages(List<Integer> codes) implements VpdPage {
    public static final int CODE = 0x00;

    public SupportedVpdPages {
        codes = List.copyOf(codes);
        CdbFields.check("number of pages", codes.size(), 256);
        codes.forEach(code -> CdbFields.check("page code", code, 0xff));
    }

    /** A page that lists itself and the given ones. */
    public static SupportedVpdPages of(List<VpdPage> pages) {
        var codes = new ArrayList<Integer>();
        codes.add(CODE);
        pages.forEach(page -> codes.add(page.pageCode()));
        return new SupportedVpdPages(codes.stream().distinct().sorted().toList());
    }

    static SupportedVpdPages decode(MemorySegment content) {
        var codes = new ArrayList<Integer>();
        for (long i = 0; i < Math.min(content.byteSize(), 256); i++) {
            codes.add(BigEndian.int8(content, i));
        }
        return new SupportedVpdPages(codes);
    }

    @Override
    public int pageCode() { return CODE; }

    @Override
    public byte[] content() {
        byte[] content = new byte[codes.size()];
        for (int i = 0; i < content.length; i++) {
            content[i] = codes.get(i).byteValue();
        }
        return content;
    }
}
