package lunar.cli.serve;

import lunar.cli.command.Console;
import lunar.cli.command.DeviceCommand;
import lunar.cli.command.EndSignal;
import lunar.cli.command.Errors;
import lunar.cli.command.Failure;
import lunar.admin.report.LunAnswer;
import lunar.admin.report.RefusedException;
import lunar.cli.config.AdminTable;
import lunar.cli.config.ConfigFile;
import lunar.cli.config.Digest;
import lunar.cli.config.IsnsAddress;
import lunar.cli.config.Portal;
import lunar.cli.config.TargetTables;
import lunar.cli.config.VolumeUris;
import lunar.cli.log.LogOptions;
import lunar.cli.systemd.ServiceNotifier;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import lunar.iscsi.login.ChapAlgorithm;
import lunar.iscsi.login.DigestChoice;
import lunar.iscsi.spi.LoopOptions;
import lunar.iscsi.spi.Polling;
import lunar.iscsi.spi.Transports;
import lunar.isns.IsnsServer;
import lunar.server.LunRequest;
import lunar.server.ServedPortal;
import lunar.server.ServerPlan;
import lunar.server.StorageServer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** {@code lunar serve}: a target until it is told to end. */
@Command(name = "serve",
        description = "Serve devices to iSCSI initiators, as LUN 0, 1, ... of a target. SIGTERM "
                + "or Ctrl-C ends it cleanly; SIGHUP reads the config file again.",
        footer = {
                "", "Examples:",
                "  lunar serve ram:1GiB 'file:disk.img?size=10GiB'",
                "  lunar serve disk:/dev/sdb --portal 0.0.0.0:3260 --chap backup:@secret.txt",
                "  lunar serve raid5:vol", "  lunar serve 'osd:objects?create=true'",
                "  lunar serve ram:1GiB --iser 127.0.0.1:3261",
                "  lunar serve --config lunar.toml"})
public final class ServeCommand extends DeviceCommand {
    @Parameters(arity = "0..*", paramLabel = "URI",
            description = "Devices; the first one is LUN 0.")
    private List<String> uris = new ArrayList<>();

    @Option(names = "--portal", paramLabel = "HOST:PORT", converter = Portal.Converter.class,
            description = "Address to listen on; may be repeated. Port 0 selects a free port. Default: "
                    + "127.0.0.1:3260.")
    private List<Portal> portals = new ArrayList<>();

    @Option(names = "--iser", paramLabel = "HOST:PORT", converter = Portal.Converter.class,
            description = "Where to listen for iSER, that is by RDMA, beside the portals of TCP; may "
                    + "be repeated.")
    private List<Portal> iserPortals = new ArrayList<>();

    @Option(names = "--rdma-provider", paramLabel = "NAME",
            description = "RDMA device for iSER, such as verbs:mlx5_0, or only the first parts of its "
                    + "name, such as libfabric:tcp. Default: one that has the portal's address, "
                    + "adapters first.")
    private @Nullable String rdmaProvider;

    @Option(names = "--iqn", paramLabel = "IQN",
            description = "Name of the target. The default is printed at the start.")
    private @Nullable String iqn;

    @Option(names = "--chap", paramLabel = "USER:@FILE",
            description = "Require CHAP logins by this user; the file holds the secret.")
    private @Nullable String chap;

    @Option(names = "--initiator", paramLabel = "IQN",
            description = "Restrict the devices on the command line to this initiator; may be repeated. "
                    + "Default: everybody.")
    private List<String> initiators = new ArrayList<>();

    @Option(names = "--mutual-chap", paramLabel = "USER:@FILE",
            description = "CHAP user of the target for mutual CHAP; the file holds the secret.")
    private @Nullable String mutualChap;

    @Option(names = ChapOption.ALGORITHMS, paramLabel = "LIST",
            description = "Accepted CHAP algorithms, such as sha3-256,sha-256. Default: these, "
                    + "sha-1 and md5.")
    private @Nullable String chapAlgorithms;

    @Option(names = "--allow-anonymous",
            description = "Permit logins without authentication even if other machines can connect.")
    private boolean allowAnonymous;

    @Option(names = "--header-digest", paramLabel = "CHOICE", converter = Digest.Converter.class,
            description = "CRC32C of headers: none, allow, prefer, require. Default: allow.")
    private @Nullable Digest headerDigest;

    @Option(names = "--data-digest", paramLabel = "CHOICE", converter = Digest.Converter.class,
            description = "CRC32C of data: none, allow, prefer, require. Default: allow.")
    private @Nullable Digest dataDigest;

    @Option(names = "--state", paramLabel = "DIR",
            description = "Directory for reservations, saved mode pages and sessions of iscsi: "
                    + "devices, so that they outlive the server. Default: none.")
    private @Nullable Path state;

    @Option(names = "--isns", paramLabel = "HOST[:PORT]", converter = IsnsAddress.Converter.class,
            description = "Register the targets at this iSNS server. "
                    + "The default port is 3205. Default: none.")
    private @Nullable IsnsServer isns;

    @Option(names = "--announce-resets", paramLabel = "true|false", arity = "1",
            description = "Whether a unit reports a unit attention to the first command of a new "
                    + "session, as SAM-5 requires; false for initiators that fail at one, "
                    + "such as jSCSI 2. Default: true.")
    private @Nullable Boolean announceResets;

    @Option(names = "--loops", paramLabel = "COUNT",
            description = "Number of threads that serve connections; with as many threads as "
                    + "connections, each has its own. Default: one per processor, up to 8.")
    private @Nullable Integer loops;

    @Option(names = "--poll", paramLabel = "auto|off|TIME", converter = PollingConverter.class,
            description = "How long these threads poll for requests before they sleep, such as 50us: "
                    + "shorter latencies for processor time. auto polls while requests come in quick "
                    + "succession, at most 200us. Default: off.")
    private @Nullable Polling polling;

    @Option(names = "--config", paramLabel = "FILE",
            description = "TOML file with targets and options; the command line "
                    + "overrides it.")
    private @Nullable Path config;

    @Option(names = "--admin", paramLabel = "PATH|none",
            description = "Unix socket of the admin API, which 'lunar status' and others ask. Default: one in the run"
                    + " directory of this user.")
    private @Nullable String admin;

    @Mixin
    private LogOptions log = new LogOptions();

    private @Nullable StorageServer running;
    private boolean reloadDue;
    private Serving.FromFile fromFile = Serving.FromFile.NOTHING;
    private ServiceNotifier notifier = ServiceNotifier.of(Map.of());
    /** As of the start. */
    private AdminTable adminTable = AdminTable.DEFAULT;
    /** As of the start or the last reload. */
    private ConfigFile runningFile = ConfigFile.NONE;
    /** As of the last plan. */
    private ConfigFile wantedFile = ConfigFile.NONE;
    /** As of the last plan. */
    private AdminTable wantedAdmin = AdminTable.DEFAULT;

    public ServeCommand(Console console) { super(console); }

    @Override
    protected int execute() throws Exception {
        // Before anything that takes time: until then, SIGHUP ends the process.
        Optional<SighupHandler> hangups = SighupHandler.at(this::hangUp);
        log.apply();
        notifier = ServiceNotifier.of(System.getenv());
        notifier.starting();
        ServerPlan plan = plan();
        try (var server = Serving.start(plan, console(), fromFile);
                var api = new AdminService(adminTable, Optional.ofNullable(config), plan.state(),
                        changes(server))) {
            // Before the admin API, which takes time to load: until then, SIGTERM closes nothing.
            var end = EndSignal.closing(console(), notifier::stopping, api, server);
            try {
                api.startExplicit(server);
                started(server);
                if (config != null && hangups.isEmpty()) {
                    console().remark("SIGHUP is ignored in this process, as under nohup: " + config
                            + " is only read at the start");
                }
                if (iqn == null && !uris.isEmpty()) {
                    console().remark("the target's name is " + TargetTables.DEFAULT_IQN
                            + "; change it with --iqn");
                }
                api.startDefault(server);
                returnMemoryOfStart();
                end.await();
            } finally {
                end.cancel();
            }
        } finally {
            notifier.close();
            hangups.ifPresent(SighupHandler::close);
        }
        return 0;
    }

    /**
     * Returns to the system the memory that only the start needed. Shenandoah, which the launcher selects, does that
     * concurrently; another collector pauses for some milliseconds.
     */
    private void returnMemoryOfStart() {
        if (console().real()) {
            System.gc();
        }
    }

    /** Reloads the config file, or notes during the start that it has to be read again. */
    private synchronized void hangUp() {
        if (config == null) {
            Serving.LOG.log(System.Logger.Level.WARNING,
                    "SIGHUP is ignored: there is no config file to"
                            + " reload; name one with --config FILE");
        } else if (running == null) {
            reloadDue = true;
        } else {
            reloadAtSignal(running);
        }
    }

    /** Announces what is served; reloads are possible from then on. */
    private synchronized void started(StorageServer server) {
        running = server;
        announce(server);
        notifier.ready(ChangeReport.summary(server));
        if (reloadDue) {
            reloadAtSignal(server);
        }
    }

    private void reloadAtSignal(StorageServer server) {
        try {
            List<String> _ = reload(server, false);
        } catch (RefusedException _) {
            // it is in the log
        }
    }

    private AdminService.Changes changes(StorageServer server) {
        return new AdminService.Changes() {
            @Override
            public List<String> reload(boolean discard) throws RefusedException {
                return ServeCommand.this.reload(server, discard);
            }

            @Override
            public LunAnswer change(LunRequest request) throws RefusedException {
                return ServeCommand.this.change(server, request);
            }
        };
    }

    /** Changes a LUN; an error changes nothing and is reported in one line. */
    private synchronized LunAnswer change(StorageServer server, LunRequest request)
            throws RefusedException {
        if (running == null) {
            throw new RefusedException("the server is still starting; try again", null);
        }
        try {
            LunAnswer done = Serving.change(server, request, fromFile);
            done.changes().stream().filter(line -> !line.startsWith(Serving.WARNING))
                    .forEach(console().out()::println);
            notifier.serving(ChangeReport.summary(server));
            return done;
        } catch (Failure | IOException | RuntimeException e) {
            throw new RefusedException(Errors.message(e), e);
        }
    }

    /**
     * Reloads the config file; an error changes nothing and is reported in one line.
     *
     * @param discard whether changes of LUNs are discarded
     */
    private synchronized List<String> reload(StorageServer server, boolean discard)
            throws RefusedException {
        if (config == null) {
            throw new RefusedException("the server has no config file to reload: it was started"
                    + " without --config FILE", null);
        }
        if (running == null) {
            throw new RefusedException("configuration not reloaded: the server is still starting;"
                    + " try again", null);
        }
        notifier.reloading();
        try {
            ServerPlan plan = plan();
            var changes = new ArrayList<>(discard
                    ? Serving.reloadDiscarding(server, plan, fromFile)
                    : Serving.reload(server, plan, fromFile));
            changes.addAll(ConfigDiff.reloaded(runningFile, wantedFile));
            runningFile = wantedFile;
            changes.stream().filter(line -> !line.startsWith(Serving.WARNING))
                    .forEach(console().out()::println);
            if (!wantedAdmin.equals(adminTable)) {
                String warning = "the change of [admin] takes effect at the next start";
                Serving.LOG.log(System.Logger.Level.WARNING, warning);
                changes.add(Serving.WARNING + warning);
            }
            console().out().println("reloaded " + config);
            return changes;
        } catch (ParameterException e) {
            throw refused(String.valueOf(e.getMessage()), e);
        } catch (Failure | IOException | RuntimeException e) {
            throw refused(Errors.message(e), e);
        } finally {
            notifier.reloaded(ChangeReport.summary(server));
        }
    }

    private static RefusedException refused(String why, Exception cause) {
        String line = "configuration not reloaded: " + why
                + "; still running the previous configuration";
        Serving.LOG.log(System.Logger.Level.ERROR, line);
        return new RefusedException(line, cause);
    }

    private AdminTable adminTable(ConfigFile file) {
        if (admin == null) {
            return file.admin();
        }
        return admin.equals("none")
                ? AdminTable.NONE
                : file.admin().withSocket(Path.of(admin).toAbsolutePath());
    }

    /** The command line goes first, then the config file, then the defaults. */
    private ServerPlan plan() throws Failure {
        if (loops != null && (loops < 1 || loops > ConfigFile.MAX_LOOPS)) {
            throw wrongUsage("--loops must be a number from 1 to " + ConfigFile.MAX_LOOPS);
        }
        if (mutualChap != null && chap == null) {
            throw wrongUsage("--mutual-chap needs --chap too: mutual CHAP authenticates both ends");
        }
        var file = config == null
                ? ConfigFile.NONE
                : ConfigFile.read(config);
        wantedFile = file;
        wantedAdmin = adminTable(file);
        if (running == null) {
            runningFile = file;
            adminTable = wantedAdmin;
        }
        wantedAdmin.requireValid();
        fromFile = new Serving.FromFile(
                file.targets().stream().map(ServerPlan.Target::iqn)
                        .collect(Collectors.toUnmodifiableSet()),
                portals.isEmpty() && !file.portals().isEmpty());
        Optional<List<ChapAlgorithm>> algorithms = chapAlgorithms == null
                ? Optional.empty()
                : Optional.of(ChapOption.algorithms(chapAlgorithms));
        var targets = new ArrayList<ServerPlan.Target>();
        if (!uris.isEmpty()) {
            targets.add(ServerPlan.Target
                    .of(iqn == null ? TargetTables.DEFAULT_IQN : iqn, uris)
                    .withChap(Optional.ofNullable(chap), Optional.ofNullable(mutualChap))
                    .withChapAlgorithms(file.chapAlgorithms())
                    .withInitiators(initiators));
        } else if (!initiators.isEmpty()) {
            throw wrongUsage("--initiator restricts access to the devices on the command line, and"
                    + " there are none; specify one, or add a [[target.initiator]] to the config"
                    + " file");
        } else if (iqn != null) {
            throw wrongUsage("--iqn names the target of the devices on the command line,"
                    + " and there are none; specify one, or set the iqn in the config file");
        }
        for (ServerPlan.Target target : file.targets()) {
            targets.add(chap == null
                    ? target
                    : target.withChap(Optional.of(chap), Optional.ofNullable(mutualChap)));
        }
        if (targets.isEmpty()) {
            throw wrongUsage(
                    "nothing to serve: specify a device, for example 'lunar serve ram:1GiB',"
                            + " or a --config file with targets");
        }
        algorithms.ifPresent(accepted -> targets
                .replaceAll(target -> target.withChapAlgorithms(accepted)));
        return new ServerPlan(listenOn(file), targets, allowAnonymous || file.allowAnonymous(),
                digest(headerDigest, file.headerDigest()), digest(dataDigest, file.dataDigest()),
                Optional.ofNullable(state).or(file::state),
                Optional.ofNullable(isns).or(file::isns), file.discoveryChap(),
                algorithms.orElse(file.chapAlgorithms()),
                file.limits().withLoops(loops(file.limits().loops())),
                new VolumeUris(config).opener(),
                announceResets == null ? file.announceResets() : announceResets);
    }

    private LoopOptions loops(LoopOptions ofFile) {
        return ofFile.withCount(loops == null ? ofFile.count() : loops)
                .withPolling(polling == null ? ofFile.polling() : polling)
                .withDevice(Optional.ofNullable(rdmaProvider).or(ofFile::device));
    }

    private static DigestChoice digest(@Nullable Digest given, Optional<Digest> ofFile) {
        return (given == null ? ofFile.orElse(Digest.ALLOW) : given).choice();
    }

    /** Portals of the command line are in the place of those at the top of the file; other groups stay. */
    private List<ServerPlan.Listen> listenOn(ConfigFile file) {
        List<ServerPlan.Listen> wanted = new ArrayList<>(
                portals.stream().map(Portal::listen).toList());
        file.portals().stream()
                .filter(portal -> portals.isEmpty() || portal.group() != ServerPlan.DEFAULT_GROUP)
                .forEach(wanted::add);
        if (wanted.isEmpty()) {
            wanted.add(Portal.DEFAULT.listen());
        }
        iserPortals.forEach(portal -> wanted
                .add(portal.listen().withTransport(Transports.ISER)));
        return wanted;
    }

    private void announce(StorageServer running) {
        List<ServedPortal> portals = running.servedPortals();
        running.units().forEach(lun -> console().out().println(ChangeReport.serving(lun, portals)));
        console().out().flush();
    }
}
