package lunar.cli.browse;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import java.io.IOException;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import lunar.block.StorageException;
import lunar.fs.FileSystemView;
import lunar.fs.FsException;
import lunar.fs.Node;
import lunar.fs.NotFoundException;
import lunar.fs.UnsupportedException;

/** Handles the requests of the web browser. */
final class BrowseHandler implements HttpHandler {
    private static final System.Logger LOG = System.getLogger("lunar.cli");
    private static final int PAGE_ROWS = 1_000;
    private static final int JSON_ROWS = 10_000;
    private static final int MAX_PAGE_DIGITS = 6;

    private final String uri;
    private final BrowsedDisk disk;
    private final Predicate<String> isOurHost;

    BrowseHandler(String uri, BrowsedDisk disk, Predicate<String> isOurHost) {
        this.uri = uri;
        this.disk = disk;
        this.isOurHost = isOurHost;
    }

    @Override
    public void handle(HttpExchange exchange) {
        try (exchange) {
            var answer = new Answer(exchange);
            try {
                answer(answer);
            } catch (HttpError e) {
                refuse(answer, e);
            } catch (NotFoundException e) {
                refuse(answer, new HttpError(404, String.valueOf(e.getMessage())));
            } catch (UnsupportedException | BrowsedDisk.NoFilesException e) {
                refuse(answer, new HttpError(501, "This cannot be shown: " + e.getMessage()));
            } catch (FsException e) {
                refuse(answer, new HttpError(500, "The file system is damaged: " + e.getMessage()));
            } catch (StorageException e) {
                refuse(answer, new HttpError(502, "The device fails: " + e.getMessage()));
            }
        } catch (IOException e) { // the client has gone, or the rest of a file cannot be read
            LOG.log(System.Logger.Level.DEBUG, "connection closed during a request", e);
        } catch (RuntimeException e) {
            LOG.log(System.Logger.Level.ERROR, "a request failed", e);
        }
    }

    private void refuse(Answer answer, HttpError refusal) throws IOException {
        if (answer.exchange().getResponseCode() >= 0) { // too late: the answer has begun, and is cut off
            return;
        }
        for (String header : new String[]{"ETag", "Last-Modified", "Content-Range",
                "Content-Disposition", "Accept-Ranges"}) {
            answer.exchange().getResponseHeaders().remove(header);
        }
        if (wantsJson(answer.exchange(), query(answer.exchange()))) {
            answer.json(refusal.status(),
                    Map.of("status", refusal.status(), "error", refusal.text()));
        } else {
            answer.page(refusal.status(), Html.error(uri, refusal));
        }
    }

    private void answer(Answer answer) throws IOException, HttpError {
        HttpExchange exchange = answer.exchange();
        String host = exchange.getRequestHeaders().getFirst("Host");
        if (host != null && !isOurHost.test(host)) {
            throw new HttpError(421, "This server does not have that name.");
        }
        String method = exchange.getRequestMethod();
        if (!method.equals("GET") && !method.equals("HEAD")) {
            answer.header("Allow", "GET, HEAD");
            throw new HttpError(405, "This server is read-only.");
        }
        String raw = Optional.ofNullable(exchange.getRequestURI().getRawPath()).orElse("");
        Map<String, String> query = query(exchange);
        BrowsedDisk.Look look = disk.look();
        if (raw.equals("/")) {
            start(answer, look, query);
            return;
        }
        BrowsePath path = BrowsePath.parse(raw).orElseThrow(BrowseHandler::nothing);
        BrowsedDisk.Part part = look.part(path.volume()).orElseThrow(BrowseHandler::nothing);
        FileSystemView files = part.requireFiles();
        Node node = files.find(path.inFileSystem());
        switch (node.kind()) {
            case DIRECTORY -> {
                if (path.endsWithSlash()) {
                    directory(answer, look, part, files, path, node, query);
                } else {
                    answer.redirect(path.href(path.names().size()));
                }
            }
            case FILE -> {
                if (path.endsWithSlash()) {
                    throw nothing();
                }
                new FileAnswer(answer, path.volume(), files, node, path.names().getLast())
                        .send(query.containsKey("download"));
            }
            default -> throw new HttpError(404, "This is a "
                    + node.kind().name().toLowerCase(Locale.ROOT).replace('_', ' ')
                    + ", which has no content.");
        }
    }

    private static HttpError nothing() { return new HttpError(404, "Not found."); }

    private void start(Answer answer, BrowsedDisk.Look look, Map<String, String> query)
            throws IOException {
        if (wantsJson(answer.exchange(), query)) {
            answer.json(200, BrowseJson.volumes(uri, look));
        } else if (look.isWhole() && look.parts().getFirst().files().isPresent()) {
            answer.redirect("/0/");
        } else {
            answer.page(200, VolumesPage.of(uri, look));
        }
    }

    private void directory(Answer answer, BrowsedDisk.Look look, BrowsedDisk.Part part,
            FileSystemView files, BrowsePath path, Node node, Map<String, String> query)
            throws IOException {
        boolean json = wantsJson(answer.exchange(), query);
        String page = query.getOrDefault("page", "1");
        boolean number = !page.isEmpty() && page.length() <= MAX_PAGE_DIGITS
                && page.chars().allMatch(c -> c >= '0' && c <= '9');
        Listing listing = Listing.of(files, node, order(query),
                number ? Integer.parseInt(page) : 1, json ? JSON_ROWS : PAGE_ROWS);
        answer.header("Vary", "Accept");
        if (json) {
            answer.json(200, BrowseJson.listing(part.volume().number(), path.inFileSystem(),
                    files.info(), listing));
        } else {
            answer.page(200,
                    new DirectoryPage(uri, look, part, files, path, listing).html());
        }
    }

    private static Listing.Order order(Map<String, String> query) {
        boolean descending = query.getOrDefault("order", "").equals("desc");
        return new Listing.Order(switch (query.getOrDefault("sort", "")) {
            case "size" -> Listing.Key.SIZE;
            case "time" -> Listing.Key.TIME;
            default -> Listing.Key.NAME;
        }, descending);
    }

    /** Options of ours are plain words, so nothing is decoded. */
    private static Map<String, String> query(HttpExchange exchange) {
        var query = new HashMap<String, String>();
        String raw = exchange.getRequestURI().getRawQuery();
        for (String pair : (raw == null ? "" : raw).split("&", -1)) {
            int equals = pair.indexOf('=');
            query.put(equals < 0 ? pair : pair.substring(0, equals),
                    equals < 0 ? "" : pair.substring(equals + 1));
        }
        return query;
    }

    private static boolean wantsJson(HttpExchange exchange, Map<String, String> query) {
        String accept = exchange.getRequestHeaders().getFirst("Accept");
        return "json".equals(query.get("format"))
                || (accept != null && accept.contains("application/json")
                        && !accept.contains("text/html"));
    }
}
