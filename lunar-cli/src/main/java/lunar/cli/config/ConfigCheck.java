package lunar.cli.config;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import lunar.admin.AdminServer;
import lunar.block.DeviceUri;
import lunar.block.Devices;
import lunar.block.OtherSizeException;
import lunar.block.StorageException;
import lunar.cli.command.Errors;
import lunar.cli.command.Failure;
import lunar.raid.metadata.DegradedStart;
import lunar.raid.service.VolumeSpec;
import lunar.server.InvalidPlanException;
import lunar.server.OpenTargetException;
import lunar.server.PlanCheck;
import lunar.server.ServerListener;
import lunar.server.ServerPlan;
import org.jspecify.annotations.Nullable;

/**
 * Checks a config file as far as that is possible without opening a device, listening or connecting: keys and values,
 * names of hosts, secret, key and certificate files, the URIs of devices and the files that they name.
 */
public final class ConfigCheck {
    /** A check that throws what is wrong. */
    @FunctionalInterface
    private interface Step {
        void run() throws InvalidPlanException, StorageException;
    }

    private final TomlTable root;
    private final ConfigFile file;
    /** Where warnings about secret files, keys and certificates belong. */
    private Place now = Place.START;

    private ConfigCheck(TomlTable root) {
        this.root = root;
        file = ConfigFile.of(root);
    }

    /**
     * Checks a file.
     *
     * @return all errors and warnings, in the order of the file
     * @throws Failure if the file cannot be read
     */
    public static List<ConfigError> check(Path path) throws Failure {
        var errors = new ConfigErrors(path);
        TomlTable root = TomlTable.read(path, errors);
        if (errors.errors().isEmpty()) {
            new ConfigCheck(root).run();
        }
        return errors.all();
    }

    private void run() {
        checkState();
        checkAdmin();
        root.tables("volume").forEach(this::checkVolume);
        checkPortals(root);
        root.tables("portal-group").forEach(this::checkPortals);
        if (root.has("luns")) {
            checkUnits(root);
        }
        root.tables("target").forEach(target -> checkUnits(named(target, "target", "iqn")));
        ConfigFile rest = file.withPortals(
                file.portals().stream().filter(portal -> isKnown(portal.host())).toList());
        try {
            checkPlan(new PlanCheck(rest.plan(new VolumeUris(null).opener()), listener()));
        } catch (InvalidPlanException e) {
            root.wrong(String.valueOf(e.getMessage()));
        }
    }

    private ServerListener listener() {
        return new ServerListener() {
            @Override
            public void warned(String message, @Nullable IOException cause) {
                root.errors().warn(now, message);
            }
        };
    }

    private static TomlTable named(TomlTable table, String what, String key) {
        return table.has(key) ? table.named(what + " " + table.text(key).orElse("")) : table;
    }

    // --- files and hosts ---

    private void checkState() {
        if (file.state().isPresent()) {
            Path state = file.state().get().toAbsolutePath();
            if (Files.exists(state) && !Files.isDirectory(state)) {
                root.wrong("state", "'state': " + state + " is not a directory");
            } else if (Files.exists(state) && !Files.isWritable(state)) {
                root.wrong("state", "'state': the directory " + state + " cannot be written");
            }
        }
    }

    private void checkAdmin() {
        Optional<TomlTable> table = root.table("admin");
        if (table.isEmpty() || !file.admin().enabled()) {
            return;
        }
        TomlTable admin = table.get().named("admin");
        file.admin().socket().filter(Path::isAbsolute).map(Path::getParent)
                .filter(parent -> !Files.isDirectory(parent))
                .ifPresent(parent -> admin.warn(admin.place("socket"),
                        "'socket': the directory " + parent + " does not exist"));
        file.admin().listen().filter(portal -> !isKnown(portal.host()))
                .ifPresent(portal -> admin.wrong("listen", "'listen': unknown host '"
                        + portal.host() + "'; check the name"));
        file.admin().tokenFile().ifPresent(token -> {
            try {
                AdminServer.checkToken(token);
            } catch (IOException e) {
                admin.wrong("token-file", "'token-file': " + Errors.message(e));
            }
        });
        file.admin().tls().ifPresent(files -> {
            try {
                AdminServer.checkTls(files).ifPresent(problem -> admin
                        .warn(admin.place("certificate"), "'certificate': " + problem));
            } catch (IOException e) {
                admin.wrong("certificate", "'certificate': " + Errors.message(e));
            }
        });
        file.admin().errors().forEach(
                (key, error) -> admin.wrong(key, "'" + key + "': " + error));
    }

    private void checkPortals(TomlTable table) {
        List<TomlTable.Text> portals = table.list("portals", "127.0.0.1:3260", Optional::of,
                one -> one.text("listen")
                        .map(text -> new TomlTable.Text(text, one.place("listen"))));
        for (TomlTable.Text portal : portals) {
            try {
                String host = Portal.parse(portal.value()).host();
                if (!isKnown(host)) {
                    table.wrong(portal.place(),
                            "'portals': unknown host '" + host + "'; check the name");
                }
            } catch (IllegalArgumentException _) {
                // reported already
            }
        }
    }

    private static boolean isKnown(String host) {
        try {
            var _ = InetAddress.getByName(host);
            return true;
        } catch (UnknownHostException _) {
            return false;
        }
    }

    // --- devices ---

    private void checkVolume(TomlTable bare) {
        TomlTable volume = named(bare, "volume", "name");
        boolean mayLack = volume.parsed("degraded", DegradedStart::parse)
                .orElse(DegradedStart.REFUSED) != DegradedStart.REFUSED;
        for (TomlTable.Text member : volume.texts("members", "file:a.img")) {
            checkDevice(volume, "members", member.place(), member.value(), mayLack);
        }
        for (TomlTable.Text spare : volume.texts("spares", "file:a.img")) {
            checkDevice(volume, "spares", spare.place(), spare.value(), true);
        }
        volume.text("journal").ifPresent(uri -> checkDevice(volume, "journal",
                volume.place("journal"), uri, mayLack));
    }

    private void checkUnits(TomlTable table) {
        for (TargetTables.Numbered unit : TargetTables.numbered(table)) {
            if (!unit.lun().uri().isEmpty()) {
                checkDevice(table, "luns", unit.place(), unit.lun().uri(), false);
            }
        }
    }

    /** @param mayLack whether it is no error if the device is missing */
    private void checkDevice(TomlTable table, String key, Place place, String uri,
            boolean mayLack) {
        try {
            String bare = Devices.withoutFilters(uri);
            DeviceUri parsed = DeviceUri.parse(bare);
            if (VolumeTable.isShort(parsed)) {
                String _ = Devices.checkFilters(uri);
                requireVolume(parsed);
            } else {
                PlanCheck.device(uri);
            }
        } catch (InvalidPlanException | StorageException | IllegalArgumentException e) {
            String message = "'" + key + "': " + (e instanceof InvalidPlanException
                    ? String.valueOf(e.getMessage())
                    : Errors.message(e));
            if (key.equals("luns") && e.getCause() instanceof OtherSizeException
                    && Devices.withoutFilters(uri).startsWith("file:")) { // no member of a volume
                table.warn(place, message + ", so that a server does not start; a reload can"
                        + " resize what is served");
            } else if (mayLack) {
                table.warn(place, message);
            } else {
                table.wrong(place, message);
            }
        }
    }

    private void requireVolume(DeviceUri uri) {
        List<VolumeTable> volumes = file.volumes();
        Optional<VolumeTable> volume = volumes.stream()
                .filter(one -> one.name().equals(uri.rest())).findFirst();
        if (volume.isEmpty()) {
            throw new IllegalArgumentException(uri + " has no [[volume]] in this file"
                    + (volumes.isEmpty()
                            ? ""
                            : "; configured: " + String.join(", ",
                                    volumes.stream().map(VolumeTable::title).toList())));
        }
        if (volume.get().level().isPresent()
                && !VolumeSpec.scheme(volume.get().level().get()).equals(uri.scheme())) {
            throw new IllegalArgumentException(
                    uri + " is configured as " + volume.get().title());
        }
    }

    // --- who may use what ---

    private void checkPlan(PlanCheck check) {
        for (PortalTables.Placed each : PortalTables.read(root).placed()) {
            if (each.portal().tls().certificate().isPresent()) { // else reported already
                step(root, each.files(), () -> check.portal(each.portal()));
            }
        }
        if (root.has("luns")) {
            checkTarget(check, root, root, TargetTables.DEFAULT_IQN);
        }
        for (TomlTable table : root.tables("target")) {
            checkTarget(check, table, named(table, "target", "iqn"), "");
        }
        Place place = root.place("discovery-chap");
        step(root, place, check::discovery);
    }

    private void checkTarget(PlanCheck check, TomlTable bare, TomlTable table, String iqn) {
        Optional<ServerPlan.Target> target = file.targets().stream()
                .filter(one -> one.iqn().equals(bare.text("iqn").orElse(iqn))).findFirst();
        if (target.isEmpty()) {
            return; // reported already
        }
        TomlTable chap = table.has("chap") || !root.has("chap") ? table : root;
        step(bare, chap.has("chap") ? chap.place("chap") : table.place("iqn"),
                () -> check.target(target.get()));
        for (TargetTables.Numbered unit : TargetTables.numbered(table)) {
            if (!unit.lun().uri().isEmpty()) {
                step(table, unit.place(),
                        () -> check.unit(target.get(), unit.number(), unit.lun()));
            }
        }
        for (TomlTable initiator : table.tables("initiator")) {
            target.get().initiators().stream()
                    .filter(one -> initiator.text("name").equals(Optional.of(one.name())))
                    .findFirst()
                    .ifPresent(one -> step(bare,
                            initiator.place(initiator.has("chap") ? "chap" : "name"),
                            () -> check.initiator(target.get(), one)));
        }
    }

    private void step(TomlTable table, Place place, Step step) {
        if (root.errors().isWrong(place)) {
            return; // what is wrong there comes first, and often is why
        }
        now = place;
        try {
            step.run();
        } catch (OpenTargetException e) {
            table.wrong(place, "other machines can reach target " + e.iqn() + ": give it a 'chap',"
                    + " or set 'allow-anonymous = true'");
        } catch (InvalidPlanException | StorageException e) {
            table.wrong(place, String.valueOf(e.getMessage()));
        }
    }
}
