package lunar.it;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A headless Chromium with one page, controlled over the DevTools protocol. Every wait is bounded.
 */
final class Chromium implements AutoCloseable {
    private static final long ANSWER_SECONDS = 120;
    private static final long END_SECONDS = 20;
    private static final Duration POLL = Duration.ofMillis(200);
    private static final JsonMapper MAPPER = JsonMapper.builder().build();
    private static final String LISTENING = "DevTools listening on ws://";

    private final Process process;
    private final HttpClient client = HttpClient.newHttpClient();
    private final Messages messages = new Messages();
    private final List<String> errors = new ArrayList<>();
    private final WebSocket socket;
    private int lastId;

    /** @param folder for its files, which exists */
    Chromium(Path folder) throws Exception {
        var command = new ArrayList<>(List.of("chromium", "--headless=new", "--disable-gpu",
                "--disable-dev-shm-usage", "--no-first-run",
                "--disable-background-networking", "--disable-component-update",
                "--disable-extensions", "--remote-debugging-port=0", "--user-data-dir=" + folder,
                "about:blank"));
        if (System.getProperty("user.name").equals("root")) {
            command.add("--no-sandbox"); // which Chromium demands of root
        }
        var builder = new ProcessBuilder(command).redirectErrorStream(true);
        for (String place : List.of("TMPDIR", "HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")) {
            builder.environment().put(place, folder.toString());
        }
        process = builder.start();
        boolean done = false;
        try {
            String host = CompletableFuture.supplyAsync(this::host, Thread::startVirtualThread)
                    .get(ANSWER_SECONDS, TimeUnit.SECONDS);
            JsonNode page = MAPPER.readTree(client.send(
                    HttpRequest.newBuilder(URI.create("http://" + host + "/json/new?about:blank"))
                            .timeout(Duration.ofSeconds(ANSWER_SECONDS))
                            .PUT(HttpRequest.BodyPublishers.noBody()).build(),
                    HttpResponse.BodyHandlers.ofString()).body());
            socket = client.newWebSocketBuilder().buildAsync(
                    URI.create(page.path("webSocketDebuggerUrl").asString()), messages)
                    .get(ANSWER_SECONDS, TimeUnit.SECONDS);
            for (String domain : List.of("Page", "Runtime", "Log")) {
                call(domain + ".enable", Map.of());
            }
            done = true;
        } finally {
            if (!done) {
                end(processes());
                client.shutdownNow();
            }
        }
    }

    /** Collects whole messages. */
    private static final class Messages implements WebSocket.Listener {
        private final BlockingQueue<String> received = new LinkedBlockingQueue<>();
        private final StringBuilder part = new StringBuilder();

        @Override
        public @Nullable CompletionStage<?> onText(WebSocket from, CharSequence data,
                boolean isLast) {
            part.append(data);
            if (isLast) {
                received.add(part.toString());
                part.setLength(0);
            }
            from.request(1);
            return null;
        }
    }

    /** Returns where it listens, and keeps its output from blocking it. */
    private String host() {
        BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
        var printed = new StringBuilder();
        try {
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                printed.append(line).append('\n');
                if (line.startsWith(LISTENING)) {
                    Thread.ofVirtual().start(() -> out.lines().forEach(_ -> {}));
                    String rest = line.substring(LISTENING.length());
                    return rest.substring(0, rest.indexOf('/'));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        throw new IllegalStateException("chromium has ended: " + printed);
    }

    private Set<ProcessHandle> processes() {
        return Stream.concat(process.descendants(), Stream.of(process.toHandle()))
                .collect(Collectors.toSet());
    }

    /** Kills processes, and waits until they write to no file any more. */
    private static void end(Set<ProcessHandle> all) throws Exception {
        all.forEach(ProcessHandle::destroyForcibly);
        CompletableFuture.allOf(all.stream().map(ProcessHandle::onExit)
                .toArray(CompletableFuture[]::new)).get(ANSWER_SECONDS, TimeUnit.SECONDS);
    }

    /** Calls a method of the protocol, and returns its result. */
    JsonNode call(String method, Map<String, Object> parameters) throws Exception {
        int id = ++lastId;
        socket.sendText(MAPPER.writeValueAsString(
                Map.of("id", id, "method", method, "params", parameters)), true)
                .get(ANSWER_SECONDS, TimeUnit.SECONDS);
        while (true) {
            String text = messages.received.poll(ANSWER_SECONDS, TimeUnit.SECONDS);
            if (text == null) {
                throw new TimeoutException("chromium does not answer to " + method);
            }
            JsonNode message = MAPPER.readTree(text);
            if (message.path("id").asInt(0) == id) {
                if (message.has("error")) {
                    throw new IOException(method + ": " + message.path("error"));
                }
                return message.path("result");
            }
            keepErrors(message);
        }
    }

    private void keepErrors(JsonNode event) {
        JsonNode parameters = event.path("params");
        switch (event.path("method").asString("")) {
            case "Runtime.exceptionThrown" -> errors.add(parameters.toString());
            case "Log.entryAdded" -> {
                JsonNode entry = parameters.path("entry");
                if (entry.path("level").asString("").equals("error")) {
                    errors.add(entry.path("text").asString("") + " " + entry.path("url"));
                }
            }
            default -> {
            }
        }
    }

    /** Returns exceptions of scripts, violations of the page's policy, and requests that failed, so far. */
    List<String> errors() throws Exception {
        evaluate("0"); // receives what has been sent
        return List.copyOf(errors);
    }

    /** Opens a page. */
    void open(String url) throws Exception {
        call("Page.navigate", Map.of("url", url));
        await("document.readyState === 'complete' && location.href !== 'about:blank'");
    }

    /** Evaluates an expression of JavaScript; awaits its value if it is a promise. */
    JsonNode evaluate(String expression) throws Exception {
        JsonNode result = call("Runtime.evaluate", Map.of("expression", expression,
                "returnByValue", true, "awaitPromise", true));
        if (result.has("exceptionDetails")) {
            throw new IOException(expression + ": " + result.path("exceptionDetails"));
        }
        return result.path("result").path("value");
    }

    /** Returns the text that is shown of the first element of a CSS selector; empty if there is none. */
    String text(String selector) throws Exception {
        return evaluate("document.querySelector(" + MAPPER.writeValueAsString(selector)
                + ")?.innerText ?? ''").asString("");
    }

    /** Whether the first element of a CSS selector is shown. */
    boolean isShown(String selector) throws Exception {
        return evaluate("document.querySelector(" + MAPPER.writeValueAsString(selector)
                + ").checkVisibility()").asBoolean(false);
    }

    /** Waits until an expression is true. */
    void await(String expression) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(ANSWER_SECONDS);
        while (!isTrue(expression)) {
            if (System.nanoTime() > end) {
                throw new AssertionError("not within " + ANSWER_SECONDS + " s: " + expression
                        + "; the page shows: " + text("body") + "; errors: " + errors);
            }
            Thread.sleep(POLL);
        }
    }

    private boolean isTrue(String expression) throws Exception {
        try {
            return evaluate("Boolean(" + expression + ")").asBoolean(false);
        } catch (IOException _) {
            return false; // the page is being loaded
        }
    }

    /** Types into the element that has the focus. */
    void type(String text) throws Exception {
        call("Input.insertText", Map.of("text", text));
    }

    /** Presses and releases a key without a character, such as {@code Tab}; {@code Enter} has one. */
    void press(String key, int code) throws Exception {
        String text = key.equals("Enter") ? "\r" : "";
        call("Input.dispatchKeyEvent", Map.of("type", "keyDown", "key", key, "code", key,
                "windowsVirtualKeyCode", code, "text", text));
        call("Input.dispatchKeyEvent", Map.of("type", "keyUp", "key", key, "code", key,
                "windowsVirtualKeyCode", code));
    }

    /** Sets the size of the window and the preferred colours, {@code light} or {@code dark}. */
    void show(int width, int height, String scheme) throws Exception {
        call("Emulation.setDeviceMetricsOverride", Map.of("width", width, "height", height,
                "deviceScaleFactor", 1, "mobile", false));
        call("Emulation.setEmulatedMedia", Map.of("features",
                List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
    }

    /** Returns an image of the window as PNG. */
    byte[] screenshot() throws Exception {
        return Base64.getDecoder().decode(call("Page.captureScreenshot",
                Map.of("format", "png", "captureBeyondViewport", false)).path("data").asString());
    }

    @Override
    public void close() throws Exception {
        Set<ProcessHandle> all = processes();
        try {
            socket.sendText("{\"id\":0,\"method\":\"Browser.close\"}", true);
            process.waitFor(END_SECONDS, TimeUnit.SECONDS);
        } finally {
            all.addAll(processes());
            socket.abort();
            client.shutdownNow();
            end(all);
        }
        process.inputReader().close();
    }
}
