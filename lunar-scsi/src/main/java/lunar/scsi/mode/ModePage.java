package lunar.scsi.mode;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import lunar.scsi.Bytes;
import lunar.scsi.wire.BigEndian;

/**
 * A mode page (SPC-5). The pages that are known give their bytes names; all keep the bytes as they
 * are, since the same layout carries values and the mask of what may be changed.
 *
 * <pre>
 * page_0:   0 PS 7, SPF 6 = 0, page code 5-0   1 page length                    2 parameters
 * sub_page: 0 PS 7, SPF 6 = 1, page code 5-0   1 subpage code   2 page length   4 parameters
 * </pre>
 */
public sealed interface ModePage
        permits CachingModePage, ControlModePage, InformationalExceptionsModePage,
        ProvisioningModePage, OtherModePage {
    /** PAGE CODE. */
    int code();

    /** SUBPAGE CODE; 0 in the short form. */
    default int subpage() { return 0; }

    /** PS: the device can save the page. */
    boolean saveable();

    /** Returns the bytes after the page's header. */
    Bytes parameters();

    /** Returns this page with other parameters. */
    default ModePage withParameters(Bytes parameters) {
        return of(code(), subpage(), saveable(), parameters);
    }

    /** Returns the page with its header. */
    default byte[] bytes() {
        boolean sub = subpage() != 0;
        int header = sub ? 4 : 2;
        byte[] array = new byte[header + parameters().length()];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int8(bytes, 0,
                BigEndian.bit(saveable(), 7) | BigEndian.bit(sub, 6) | code());
        if (sub) {
            BigEndian.int8(bytes, 1, subpage());
            BigEndian.int16(bytes, 2, parameters().length());
        } else {
            BigEndian.int8(bytes, 1, parameters().length());
        }
        MemorySegment.copy(parameters().segment(), 0, bytes, header, parameters().length());
        return array;
    }

    /** The page of a code with these parameters. */
    static ModePage of(int code, int subpage, boolean saveable, Bytes parameters) {
        if (subpage == 0) {
            switch (code) {
                case CachingModePage.CODE -> {
                    return new CachingModePage(saveable, parameters);
                }
                case ControlModePage.CODE -> {
                    return new ControlModePage(saveable, parameters);
                }
                case InformationalExceptionsModePage.CODE -> {
                    return new InformationalExceptionsModePage(saveable, parameters);
                }
                default -> {
                } // below
            }
        }
        if (code == ProvisioningModePage.CODE && subpage == ProvisioningModePage.SUBPAGE) {
            return new ProvisioningModePage(saveable, parameters);
        }
        return new OtherModePage(code, subpage, saveable, parameters);
    }

    /** The page at the start of a segment, or nothing where it is cut. */
    static Optional<ModePage> decode(MemorySegment bytes) {
        if (bytes.byteSize() < 2) {
            return Optional.empty();
        }
        boolean sub = BigEndian.bit(bytes, 0, 6);
        int header = sub ? 4 : 2;
        if (bytes.byteSize() < header) {
            return Optional.empty();
        }
        int length = sub ? BigEndian.int16(bytes, 2) : BigEndian.int8(bytes, 1);
        if (bytes.byteSize() < header + length) {
            return Optional.empty();
        }
        return Optional.of(of(BigEndian.int8(bytes, 0) & 0x3f,
                sub ? BigEndian.int8(bytes, 1) : 0, BigEndian.bit(bytes, 0, 7),
                Bytes.of(bytes.asSlice(header, length))));
    }

    /** Whether a bit of the parameters is set; those of a page that is shorter are not. */
    static boolean bit(Bytes parameters, int at, int bit) {
        return at < parameters.length() && (parameters.at(at) >> bit & 1) != 0;
    }

    /** The parameters with one bit set or cleared. */
    static Bytes withBit(Bytes parameters, int at, int bit, boolean value) {
        int others = parameters.at(at) & ~(1 << bit);
        return parameters.with(at, others | BigEndian.bit(value, bit));
    }
}
