/**
 * What a browser shows instead of the page when it has neither token nor cookie: a bookmark, a new token, another
 * browser. Plain text in markup, no script, nothing about the server.
 */
const HTML = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>Fieldbench: not signed in</title>
<h1>Not signed in</h1>
<p>This browser has no access yet, or the token was changed.</p>
<p>Start Fieldbench once more: it finds the running one and opens this page signed in. Or open the address that
<code>fieldbench serve</code> prints.</p>
<h1 lang="zh-CN">未登录</h1>
<p lang="zh-CN">此浏览器尚未获得访问权限，或令牌已更换。</p>
<p lang="zh-CN">再次启动 Fieldbench：它会找到正在运行的实例，并以登录状态打开本页；也可以打开
<code>fieldbench serve</code> 输出的地址。</p>
</html>
`;

/** Whether it is a person's browser that asks for a document. */
export const wantsDocument = (request: Request): boolean =>
  request.method === "GET" && (request.headers.get("accept") ?? "").includes("text/html");

export const signInPage = (): Response =>
  new Response(HTML, {
    status: 401,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "content-security-policy": "default-src 'none'; img-src data:; frame-ancestors 'none'; base-uri 'none'",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
    },
  });
