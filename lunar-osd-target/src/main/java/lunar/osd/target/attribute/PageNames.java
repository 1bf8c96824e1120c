package lunar.osd.target.attribute;

import java.util.EnumMap;
import java.util.Map;
import lunar.osd.wire.page.PageIdentification;
import lunar.osd.wire.page.StandardPage;
import lunar.scsi.Bytes;

/** The identifications of the pages that the device defines. */
final class PageNames {
    private static final Map<StandardPage, Bytes> STANDARD = new EnumMap<>(StandardPage.class);
    private static final Bytes FORMAT = new PageIdentification("LUNAR", "Format").value();

    static {
        for (StandardPage page : StandardPage.values()) {
            STANDARD.put(page, new PageIdentification(PageIdentification.STANDARD_VENDOR,
                    "T10 " + name(page)).value());
        }
    }

    private PageNames() {}

    private static String name(StandardPage page) {
        return switch (page) {
            case USER_OBJECT_DIRECTORY -> "User Object Directory";
            case USER_OBJECT_INFORMATION -> "User Object Information";
            case USER_OBJECT_QUOTAS -> "User Object Quotas";
            case USER_OBJECT_TIMESTAMPS -> "User Object Timestamps";
            case USER_OBJECT_COLLECTIONS -> "User Object Collections";
            case USER_OBJECT_POLICY_SECURITY -> "User Object Policy/Security";
            case USER_OBJECT_ERROR_RECOVERY -> "User Object Error Recovery";
            case PARTITION_DIRECTORY -> "Partition Directory";
            case PARTITION_INFORMATION -> "Partition Information";
            case PARTITION_QUOTAS -> "Partition Quotas";
            case PARTITION_TIMESTAMPS -> "Partition Timestamps";
            case PARTITION_ATTRIBUTES_ACCESS -> "Partition Attributes Access";
            case PARTITION_POLICY_SECURITY -> "Partition Policy/Security";
            case PARTITION_ERROR_RECOVERY -> "Partition Error Recovery";
            case COLLECTION_DIRECTORY -> "Collection Directory";
            case COLLECTION_INFORMATION -> "Collection Information";
            case COLLECTION_TIMESTAMPS -> "Collection Timestamps";
            case COLLECTION_COMMAND_TRACKING -> "Collection Command Tracking";
            case COLLECTION_POLICY_SECURITY -> "Collection Policy/Security";
            case COLLECTION_ERROR_RECOVERY -> "Collection Error Recovery";
            case ROOT_DIRECTORY -> "Root Directory";
            case ROOT_INFORMATION -> "Root Information";
            case ROOT_QUOTAS -> "Root Quotas";
            case ROOT_TIMESTAMPS -> "Root Timestamps";
            case ROOT_POLICY_SECURITY -> "Root Policy/Security";
            case ROOT_ERROR_RECOVERY -> "Root Error Recovery";
            case CURRENT_COMMAND -> "Current Command";
        };
    }

    /** Returns the 40 bytes that identify a page of the device. */
    static Bytes identification(int page) {
        return StandardPage.of(page).map(standard -> STANDARD.getOrDefault(standard, FORMAT))
                .orElse(FORMAT);
    }
}
