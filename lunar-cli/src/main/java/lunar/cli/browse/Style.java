package lunar.cli.browse;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

/** Style sheet of pages, and the Content-Security-Policy that permits only this style. */
final class Style {
    static final String CSS = """
            :root{color-scheme:light dark;--bg:#f6f7f9;--card:#fff;--ink:#1c2330;--soft:#5d6778;--line:#e3e7ee;
            --accent:#3b5bdb;--accent-soft:#e8edff;--warn:#7a5200;--warn-soft:#fff4d6;--warn-line:#f0d48a;--dir:#3b5bdb}
            @media(prefers-color-scheme:dark){:root{--bg:#10141c;--card:#181e29;--ink:#e6eaf2;--soft:#96a1b5;
            --line:#28303f;--accent:#8ea8ff;--accent-soft:#222c4a;--warn:#f2cf7b;--warn-soft:#2e2611;
            --warn-line:#5a4a1c;--dir:#8ea8ff}}
            *{box-sizing:border-box}body>svg{position:absolute}
            body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",
            Roboto,"Helvetica Neue",Arial,sans-serif}
            a{color:var(--accent);text-decoration:none}a:hover{text-decoration:underline}
            a:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:4px}
            main,header>div{max-width:1080px;margin:0 auto;padding:0 20px}
            header{background:var(--card);border-bottom:1px solid var(--line)}
            header>div{display:flex;align-items:center;gap:12px;min-height:56px;flex-wrap:wrap}
            .brand{display:flex;align-items:center;gap:8px;font-weight:650;color:var(--ink)}
            .brand svg{width:22px;height:22px;fill:var(--accent)}
            .uri{font:13px/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;color:var(--soft);
            overflow-wrap:anywhere;flex:1;min-width:0}
            .badge{font-size:12px;color:var(--soft);border:1px solid var(--line);border-radius:99px;padding:1px 10px}
            .volumes{display:flex;gap:8px;flex-wrap:wrap;padding-top:18px}
            .volumes a,.volumes span{border:1px solid var(--line);background:var(--card);border-radius:10px;
            padding:5px 12px;color:var(--ink);font-size:14px}
            .volumes small{color:var(--soft);margin-left:6px}
            .volumes .here{border-color:var(--accent);background:var(--accent-soft)}
            .volumes .off{opacity:.55}
            nav.path{padding:18px 0 12px;font-size:17px;overflow-wrap:anywhere}
            nav.path b{font-weight:650}nav.path i{font-style:normal;color:var(--soft);padding:0 7px}
            .note{background:var(--warn-soft);border:1px solid var(--warn-line);color:var(--warn);border-radius:10px;
            padding:9px 14px;margin:0 0 12px;font-size:14px;overflow-wrap:anywhere}
            .card{background:var(--card);border:1px solid var(--line);border-radius:12px;overflow-x:auto}
            table{border-collapse:collapse;width:100%}
            th,td{padding:7px 14px;text-align:left;white-space:nowrap}
            th{font-size:12.5px;font-weight:600;color:var(--soft);border-bottom:1px solid var(--line)}
            th a{color:inherit}
            tbody tr+tr td{border-top:1px solid var(--line)}
            tbody tr:hover{background:var(--accent-soft)}
            td.name{white-space:normal;overflow-wrap:anywhere;width:99%;min-width:240px}
            td.name svg{width:17px;height:17px;vertical-align:-3px;margin-right:9px;fill:var(--soft)}
            td.name svg.dir{fill:var(--dir)}
            td.num,th.num{text-align:right;font-variant-numeric:tabular-nums}
            td.dim,td.num{color:var(--soft);font-size:14px}
            td.mono{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;color:var(--soft)}
            td.save{padding-left:0}td.save svg{width:16px;height:16px;fill:var(--soft);vertical-align:-3px}
            td.save a:hover svg{fill:var(--accent)}
            .to,.bad{color:var(--soft);font-size:13.5px}.bad{color:var(--warn)}
            .empty{padding:28px;text-align:center;color:var(--soft)}
            .pages{display:flex;gap:16px;justify-content:center;padding:16px 0 0;color:var(--soft)}
            footer{color:var(--soft);font-size:13px;padding:14px 2px 40px;display:flex;gap:6px 18px;flex-wrap:wrap}
            .error{text-align:center;padding:72px 20px}.error strong{display:block;font-size:44px;font-weight:650;
            color:var(--accent)}
            @media(max-width:760px){.wide{display:none}th,td{padding:8px 10px}td.name{min-width:150px}
            main,header>div{padding:0 12px}}
            """;

    /** Nothing may be loaded or run but the style with this hash. */
    static final String POLICY = "default-src 'none'; img-src data:; style-src 'sha256-" + hash()
            + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    private Style() {}

    private static String hash() {
        try {
            return Base64.getEncoder().encodeToString(MessageDigest.getInstance("SHA-256")
                    .digest(CSS.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
