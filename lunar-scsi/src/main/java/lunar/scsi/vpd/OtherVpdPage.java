package lunar.scsi.vpd;

import lunar.scsi.Bytes;
import lunar.scsi.wire.CdbFields;

/**
 * A page of vital product data that nothing here takes apart.
 *
 * @param pageCode PAGE CODE
 * @param raw the content
 */
public record OtherVpdPage(int pageCode, Bytes raw) implements VpdPage {
    public OtherVpdPage {
        CdbFields.check("pageCode", pageCode, 0xff);
        CdbFields.check("content", raw.length(), 0xffff);
    }

    @Override
    public byte[] content() { return raw.toArray(); }
}
