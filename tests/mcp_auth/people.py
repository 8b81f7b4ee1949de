"""A person who signs in by following the redirect, as a browser would, without a browser."""

import httpx2


class ObligingPerson:
    """Signs in wherever it is sent.

    Attributes:
        pages: Where it was sent.
    """

    redirect_uri = "http://127.0.0.1:9/callback"

    def __init__(self) -> None:
        self.pages: list[str] = []

    async def authorize(self, url: str) -> str:
        self.pages.append(url)
        async with httpx2.AsyncClient(trust_env=False) as browser:
            answer = await browser.get(url, follow_redirects=False)
        return answer.headers["location"]
