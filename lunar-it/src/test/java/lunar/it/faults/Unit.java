package lunar.it.faults;

import java.io.IOException;
import java.util.List;
import lunar.testkit.FreePorts;

/**
 * A unit served in a scenario, and the command that creates it.
 *
 * @param uri argument of {@code lunar serve}
 * @param create arguments of the command that creates it before; empty if serving creates it
 */
record Unit(String uri, List<String> create) {
    private static final int MEMBERS = 3;
    private static final int SIZE_MIB = 8;

    /** Returns the unit {@code file}, {@code encrypt}, {@code raid1} or {@code raid5}, in files of the lab. */
    static Unit of(String kind, Lab lab) {
        String config = lab.path("lunar.toml").toString();
        return switch (kind) {
            case "file" -> new Unit(file(lab, "disk.img"), List.of());
            case "encrypt" -> new Unit(
                    "encrypt=" + lab.path("disk.key") + ",create-key=yes:" + file(lab, "disk.img"),
                    List.of());
            case "raid1" -> new Unit("raid1:vol", List.of("raid", "create", "raid1:vol",
                    file(lab, "m0"), file(lab, "m1"), "--assume-clean", "--config", config));
            case "raid5" -> new Unit("raid5:vol", List.of("raid", "create", "raid5:vol", "--chunk",
                    "16k", file(lab, "m0"), file(lab, "m1"), file(lab, "m2"), "--assume-clean",
                    "--config", config));
            default -> throw new IllegalArgumentException("no unit of kind " + kind);
        };
    }

    private static String file(Lab lab, String name) {
        return "file:" + lab.path(name) + "?size=" + SIZE_MIB + "MiB";
    }

    /** A server of it, after it was made. */
    Gateway made(Lab lab) throws IOException, InterruptedException {
        if (!create.isEmpty()) {
            lab.run(create.toArray(String[]::new));
        }
        return new Gateway(lab, uri, isVolume() ? lab.path("lunar.toml").toString() : "",
                FreePorts.one());
    }

    boolean isVolume() { return uri.startsWith("raid"); }
}
