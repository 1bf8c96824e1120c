package lunar.scsi.mode;

import lunar.scsi.Bytes;
import lunar.scsi.wire.CdbFields;

/**
 * A mode page that nothing here takes apart.
 *
 * @param code PAGE CODE
 * @param subpage SUBPAGE CODE; 0 in the short form
 * @param saveable PS
 * @param parameters what follows the header
 */
public record OtherModePage(int code, int subpage, boolean saveable, Bytes parameters)
        implements
        ModePage {
    public OtherModePage {
        CdbFields.check("code", code, 0x3f);
        CdbFields.check("subpage", subpage, 0xff);
        CdbFields.check("page length", parameters.length(), subpage == 0 ? 0xff : 0xffff);
    }
}
